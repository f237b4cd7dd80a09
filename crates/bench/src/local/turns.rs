//! Several works in turn, so that what else the machine does meets all of them.

use crate::files::Failure;

/// What one turn of a work gives: a figure in the work's own unit.
pub type Work<'a> = &'a mut dyn FnMut() -> Result<f64, Failure>;

/// `runs` figures of each work, in the order of the works; a first round warms up and does not count.
pub fn in_turn(runs: usize, works: &mut [Work<'_>]) -> Result<Vec<Vec<f64>>, Failure> {
    let mut figures = vec![Vec::with_capacity(runs); works.len()];
    for round in 0..=runs {
        for (work, figures) in works.iter_mut().zip(&mut figures) {
            let figure = work()?;
            if round > 0 {
                figures.push(figure);
            }
        }
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    #[test]
    fn works_take_turns_and_the_first_round_does_not_count() {
        let order = std::cell::RefCell::new(String::new());
        let say = |name, figure| {
            order.borrow_mut().push(name);
            Ok(figure)
        };
        let (mut a, mut b) = (|| say('a', 1.0), || say('b', 2.0));
        let figures = super::in_turn(2, &mut [&mut a, &mut b]).unwrap();
        assert_eq!(figures, [[1.0, 1.0], [2.0, 2.0]]);
        assert_eq!(order.into_inner(), "ababab");
    }
}
