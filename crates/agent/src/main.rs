mod protocol;

fn main() {
    println!("{}", protocol::VERSION);
}
