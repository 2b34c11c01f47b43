#!/bin/sh
# What a sample of the soak does: work.sh HOW FOLDER. Below FOLDER are `started`, a line for each sample that has begun,
# and `precious`, which must survive whatever is mounted where.
set -eu
how=$1 folder=$2
precious=$folder/precious
root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
own=$root$(sed -n 's/^0:://p' /proc/self/cgroup)
export root own precious

case $how in
prepare)
    # Stays mounted for the work; runoff takes it away.
    mkdir prepared
    mount --bind "$precious" prepared
    exit
    ;;
esac

echo "$how" >>"$folder/started"
case $how in
files)
    mkdir -p one/two/three
    seq 1000 >one/two/three/numbers
    ln -s "$precious" link
    ln -s / one/root
    sleep 0.1
    ;;
nested)
    mkdir -p "$own/one/two" "$own/one/three"
    sh -c 'echo 0 >"$own/one/two/cgroup.procs"; sleep 0.1'
    ;;
mounts)
    mkdir inside
    mount --bind "$precious" inside
    mount --bind "$precious" "$HOME"
    sleep 0.1
    umount "$HOME"
    umount inside
    ;;
loud)
    head -c 20000000 /dev/zero | tr '\0' x
    echo
    sleep 0.05
    ;;
# What follows is to be void.
mounted)
    mkdir inside
    mount --bind "$precious" inside
    mount --bind "$precious" "$HOME"
    sleep 0.15
    ;;
daemon)
    setsid sh -c 'mkdir -p "$own/of/daemon"; echo 0 >"$own/of/daemon/cgroup.procs"; exec sleep 600' &
    sleep 0.15
    ;;
frozen)
    mkdir "$own/ice"
    setsid sh -c 'echo 0 >"$own/ice/cgroup.procs"; exec sleep 600' &
    setsid sh -c 'kill -STOP $$; exec sleep 600' &
    sleep 0.05
    echo 1 >"$own/ice/cgroup.freeze"
    sleep 0.05
    ;;
leaver)
    setsid sh -c 'echo 0 >"$root/cgroup.procs"; exec sleep 600' &
    sleep 0.15
    ;;
apart)
    # With mounts of its own, which nobody else sees.
    setsid unshare --mount sh -c 'mount --bind "$precious" "$HOME"; echo 0 >"$root/cgroup.procs"; exec sleep 600' &
    sleep 0.15
    ;;
covers)
    # Nobody who looks for its processes by path would find them.
    mount -t tmpfs nothing "$root"
    umount --lazy /proc
    setsid sleep 600 &
    sleep 0.15
    ;;
flood)
    head -c 70000000 /dev/zero || true
    sleep 0.05
    ;;
*)
    echo "no such work: $how" >&2
    exit 64
    ;;
esac
