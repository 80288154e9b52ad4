// SPDX-License-Identifier: MIT

//! `bench ROUNDS FILTER` looks up a million keys in each round and prints how many were found.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let (rounds, name) = match &arguments[..] {
        [_, rounds, name] => (rounds.parse::<u32>()?, name),
        _ => return Err("usage: bench ROUNDS FILTER".into()),
    };
    let keys: Vec<String> = (0..1 << 20).map(|i| format!("key{}", 2 * i)).collect();
    let filter = umbel::Filter::open(name)?;
    let round = || {
        keys.iter()
            .filter(|key| filter.contains(key.as_str()))
            .count()
    };
    println!("{}", (0..rounds).map(|_| round()).sum::<usize>());
    Ok(())
}
