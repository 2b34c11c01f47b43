"""Samples of the lab on other machines, by way of Dask (``distributed``).

The user's side (``engine``, ``team``) decides what is taken, stores it, and sends what guests are made of; a worker's
side (``worker``, ``store``) receives that, and takes one sample at a time and thread. ``parcels``, ``job`` and
``answers`` are the values that travel.
"""
