//! What guards, stacks, clamps, nodes and keyed stores promise: recorded cases, vector files and properties.

mod breaker;
mod keyed;
mod money;
mod nodes;
mod queue;
mod stack;
mod support;
mod vectors;
