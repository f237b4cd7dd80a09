//! From registers to return addresses, along the frame pointers.
//!
//! Our own code keeps a frame pointer in every function, the standard library in most; the C library keeps none. A function of
//! the C library that was interrupted is left by looking for the return address into our code on its part of the stack, with
//! a call instruction before it.

/// Return addresses that a sample has at most.
pub(crate) const DEPTH_MAX: usize = 120;
/// Words of the stack that are looked through for the way out of a function without a frame pointer.
const SEARCH_LEN: usize = 96;
const WORD: usize = size_of::<usize>();

/// Where a thread was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Registers {
    /// The next instruction.
    pub(crate) instruction: usize,
    /// The frame pointer, where the function has one.
    pub(crate) frame: usize,
    /// The end of the stack.
    pub(crate) stack: usize,
}

/// What a walk may look at.
pub(crate) trait Memory {
    /// A word of the thread's stack; none outside of it.
    fn word(&mut self, address: usize) -> Option<usize>;
    /// Whether an address is in our own code, which has frame pointers.
    fn is_ours(&self, address: usize) -> bool;
    /// Whether an address is in any code.
    fn is_code(&self, address: usize) -> bool;
    /// Whether the instruction before `address`, which is in our own code, is a call.
    fn follows_call(&self, address: usize) -> bool;
}

/// The addresses of a stack, innermost first.
pub(crate) struct Addresses {
    list: [usize; DEPTH_MAX],
    len: usize,
}

impl Addresses {
    pub(crate) const fn new() -> Self {
        Self { list: [0; DEPTH_MAX], len: 0 }
    }

    fn push(&mut self, address: usize) -> bool {
        match self.list.get_mut(self.len) {
            Some(slot) => {
                *slot = address;
                self.len += 1;
                true
            }
            None => false,
        }
    }

    pub(crate) fn as_slice(&self) -> &[usize] {
        self.list.get(..self.len).unwrap_or_default()
    }
}

/// Fills `found` with the addresses of the stack that `registers` point to.
pub(crate) fn walk(registers: Registers, memory: &mut impl Memory, found: &mut Addresses) {
    found.push(registers.instruction);
    let mut frame = registers.frame;
    let mut below = registers.stack;
    if !memory.is_ours(registers.instruction)
        && let Some((slot, caller)) = caller_on_stack(registers.stack, memory)
    {
        found.push(caller);
        below = slot;
        frame = match frame {
            _ if frame.checked_add(WORD) == Some(slot) => memory.word(frame).unwrap_or(0),
            _ if is_frame(frame, slot, memory) => frame,
            _ => saved_frame(registers.stack, slot, memory).unwrap_or(0),
        };
    }
    while frame > below && frame.is_multiple_of(WORD) {
        let address = memory.word(frame.wrapping_add(WORD));
        let (Some(next), Some(address)) = (memory.word(frame), address) else { return };
        if !memory.is_code(address) || !found.push(address) {
            return;
        }
        (below, frame) = (frame, next);
    }
}

/// The first return address into our code above the end of the stack, and where it is.
fn caller_on_stack(stack: usize, memory: &mut impl Memory) -> Option<(usize, usize)> {
    let from = stack.wrapping_add(WORD - 1) & !(WORD - 1);
    (0..SEARCH_LEN).find_map(|index| {
        let slot = from.wrapping_add(index * WORD);
        let word = memory.word(slot)?;
        (memory.is_ours(word) && memory.follows_call(word)).then_some((slot, word))
    })
}

/// Whether a word can be the frame pointer of a function whose callee's return address is in `slot`.
fn is_frame(word: usize, slot: usize, memory: &mut impl Memory) -> bool {
    word > slot
        && word.is_multiple_of(WORD)
        && memory.word(word).is_some()
        && memory.word(word.wrapping_add(WORD)).is_some_and(|address| memory.is_code(address))
}

/// The frame pointer of the caller that functions without one saved because they needed the register.
fn saved_frame(stack: usize, slot: usize, memory: &mut impl Memory) -> Option<usize> {
    let mut at = slot;
    while at > stack {
        at -= WORD;
        let word = memory.word(at)?;
        if is_frame(word, slot, memory) {
            return Some(word);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const OURS: std::ops::Range<usize> = 0x1000..0x2000;
    const LIBC: std::ops::Range<usize> = 0x8000..0x9000;

    struct Stack(HashMap<usize, usize>);

    impl Memory for Stack {
        fn word(&mut self, address: usize) -> Option<usize> {
            (0x70_000..0x70_400)
                .contains(&address)
                .then(|| self.0.get(&address).copied().unwrap_or(0))
        }
        fn is_ours(&self, address: usize) -> bool {
            OURS.contains(&address)
        }
        fn is_code(&self, address: usize) -> bool {
            OURS.contains(&address) || LIBC.contains(&address)
        }
        fn follows_call(&self, address: usize) -> bool {
            OURS.contains(&address)
        }
    }

    fn walked(instruction: usize, frame: usize, words: &[(usize, usize)]) -> Vec<usize> {
        let mut found = Addresses::new();
        let registers = Registers { instruction, frame, stack: 0x70_000 };
        walk(registers, &mut Stack(words.iter().copied().collect()), &mut found);
        found.as_slice().to_vec()
    }

    const CHAIN: [(usize, usize); 4] =
        [(0x70_040, 0x70_080), (0x70_048, 0x1100), (0x70_080, 0), (0x70_088, 0x1200)];

    #[test]
    fn frames_are_followed_to_the_end_of_the_chain() {
        assert_eq!(walked(0x1010, 0x70_040, &CHAIN), [0x1010, 0x1100, 0x1200]);
    }

    #[test]
    fn a_chain_that_is_broken_ends() {
        for frame in [0, 1, 0x70_041, 0x6f_000, 0x70_3fc, 0x70_400, usize::MAX, usize::MAX - 7] {
            assert_eq!(walked(0x1010, frame, &CHAIN), [0x1010], "{frame:#x}");
        }
        let circle = [(0x70_040, 0x70_040), (0x70_048, 0x1100)];
        assert_eq!(walked(0x1010, 0x70_040, &circle), [0x1010, 0x1100]);
        let data = [(0x70_040, 0x70_080), (0x70_048, 0x5555)];
        assert_eq!(walked(0x1010, 0x70_040, &data), [0x1010]);
    }

    #[test]
    fn the_caller_of_a_function_without_a_frame_pointer_is_found() {
        let mut words = vec![(0x70_010, 0x77), (0x70_018, 0x1050)];
        words.extend(CHAIN);
        let expected = [0x8010, 0x1050, 0x1100, 0x1200];
        assert_eq!(walked(0x8010, 0x70_040, &words), expected, "the register was left alone");
        words.push((0x70_008, 0x70_040));
        assert_eq!(walked(0x8010, 0x123, &words), expected, "the register was saved");
        let with_frame = [(0x70_010, 0x70_040), (0x70_018, 0x1050)];
        words.truncate(2);
        words.extend(with_frame);
        words.extend(CHAIN);
        assert_eq!(walked(0x8010, 0x70_010, &words), expected, "it has a frame of its own");
    }

    #[test]
    fn a_stack_that_is_too_deep_is_cut() {
        let words: Vec<(usize, usize)> = (0..60)
            .flat_map(|n| [(0x70_000 + n * 16, 0x70_010 + n * 16), (0x70_008 + n * 16, 0x1500)])
            .collect();
        let mut found = Addresses::new();
        for _ in 0..10 {
            let registers = Registers { instruction: 0x1000, frame: 0x70_010, stack: 0x70_000 };
            walk(registers, &mut Stack(words.iter().copied().collect()), &mut found);
        }
        assert_eq!(found.as_slice().len(), DEPTH_MAX);
    }
}
