//! Flags integer `/` and `%` whose divisor is a power of two, where a shift or a mask would do.

use super::sites::{self, Judged, Verdict};
use super::{Draft, Fields, Options, Rule, Sink, View};
use crate::finding::{Fix, Level, Safety};
use crate::warp::facts::{Division, Divisor, Exactness, LaunchSource};

#[derive(Default)]
pub(super) struct IntDivPow2;

impl Options for IntDivPow2 {
    fn fields(&mut self, _fields: &mut Fields<'_>) {}
}

impl Rule for IntDivPow2 {
    fn check(&self, view: &View<'_>, sink: &mut Sink<'_>) {
        for (span, sightings) in sites::by_place(view, |kernel| &kernel.divisions, |division| Some(division.span)) {
            // A divisor that an assumed launch happens to make a power of two says nothing about the program.
            let known: Vec<_> = sightings
                .into_iter()
                .filter(|s| {
                    !matches!(s.fact.divisor, Divisor::AtLaunch(_)) || s.kernel.launch.source != LaunchSource::Assumed
                })
                .collect();
            let Some(judged) = sites::judge(span, &known, verdict) else { continue };
            match judged.worst.fact.divisor {
                Divisor::Constant(value) => sink.emit(constant(view, &judged, value)),
                // One launch with another divisor needs the division.
                Divisor::AtLaunch(_) if known.len() != judged.firing.len() => {}
                Divisor::AtLaunch(value) => sink.emit(at_launch(view, &judged, value)),
                Divisor::WarpSize(value) => sink.emit(by_warp_size(view, &judged, value)),
                Divisor::Runtime => {}
            }
        }
    }
}

fn verdict(division: &Division) -> Verdict {
    let badness = match division.divisor {
        Divisor::Constant(_) if division.is_folded || division.is_signed && division.needs_no_fix_up => {
            return Verdict::Silent;
        }
        Divisor::Constant(value) if is_power_of_two(value) => 1.0,
        Divisor::AtLaunch(value) | Divisor::WarpSize(value) if is_power_of_two(value) => 2.0,
        Divisor::Constant(_) | Divisor::AtLaunch(_) | Divisor::WarpSize(_) => return Verdict::Silent,
        Divisor::Runtime => return Verdict::Unknown,
    };
    Verdict::Fires { badness, exactness: Exactness::Exact }
}

fn is_power_of_two(value: i64) -> bool {
    value > 1 && value.count_ones() == 1
}

/// The remedy in words: `>> 6`, `& 63`.
fn remedy(division: &Division, value: i64) -> String {
    if division.is_remainder { format!("& {}", value - 1) } else { format!(">> {}", value.trailing_zeros()) }
}

fn operator(division: &Division) -> char {
    if division.is_remainder { '%' } else { '/' }
}

fn constant(view: &View<'_>, judged: &Judged<'_, Division>, value: i64) -> Draft {
    let division = judged.worst.fact;
    let operator = operator(division);
    let remedy = remedy(division, value);
    if !division.is_signed {
        let message = format!("unsigned `{operator} {value}` is already `{remedy}`");
        return draft(view, judged, message).pedantic().at_most(Level::Note);
    }
    let extra = extra_instructions(division, value);
    let count = crate::error::count(extra as usize, "instruction");
    let message =
        format!("signed `{operator} {value}` costs {count} more than `{remedy}`: it must be right for negative values");
    let draft = draft(view, judged, message)
        .at_most(Level::Note)
        .count("extra_instructions", extra)
        .label("the sign is fixed up at run time".to_owned());
    if division.dividend_not_negative {
        return draft.note("the dividend is never negative here").fix(shift_fix(view, division, value));
    }
    draft
        .note("use an unsigned index if it is never negative; a bare shift would change the result for negative values")
}

/// `w`, `blockDim.x`, but `(a * b)`.
fn in_parentheses(text: String) -> String {
    let is_one_operand = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '[' | ']'));
    if is_one_operand { text } else { format!("({text})") }
}

/// Instructions of the sign fix-up, counted in what nvcc 13 makes of it for sm_80, sm_90 and sm_100: a division by 2 needs no
/// shift of the sign, a remainder subtracts once more, 64 bits carry once more.
fn extra_instructions(division: &Division, value: i64) -> u32 {
    1 + u32::from(value > 2) + u32::from(division.is_remainder) + u32::from(division.bits > 32)
}

fn at_launch(view: &View<'_>, judged: &Judged<'_, Division>, value: i64) -> Draft {
    let division = judged.worst.fact;
    let cost = if division.bits > 32 { "over 100 instructions" } else { "18 to 26 instructions" };
    let text = in_parentheses(view.text(division.right));
    let values: std::collections::BTreeSet<i64> = judged
        .firing
        .iter()
        .filter_map(|s| match s.fact.divisor {
            Divisor::AtLaunch(value) => Some(value),
            _ => None,
        })
        .collect();
    let list = values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let what = if values.len() == 1 { "a power of two".to_owned() } else { "powers of two".to_owned() };
    let message = format!(
        "`{} {text}` is a full division ({cost}), yet `{text}` is {what} at every launch seen: {list}",
        operator(division)
    );
    run_time(view, judged, message, "a constexpr or template argument", value)
}

fn by_warp_size(view: &View<'_>, judged: &Judged<'_, Division>, value: i64) -> Draft {
    let division = judged.worst.fact;
    let cost = if division.bits > 32 { "over 100 instructions" } else { "about 14 instructions" };
    let text = in_parentheses(view.text(division.right));
    let message =
        format!("`{} {text}` is a full division ({cost}), yet `{text}` is {value} on every device", operator(division));
    run_time(view, judged, message, "a constant", value)
}

/// What holds for divisors that the compiler does not know.
fn run_time(view: &View<'_>, judged: &Judged<'_, Division>, message: String, better: &str, value: i64) -> Draft {
    let division = judged.worst.fact;
    let name = if division.is_remainder { "a mask" } else { "a shift" };
    let draft = draft(view, judged, message)
        .label("known only at run time for the compiler".to_owned())
        .note(format!("as {better} it becomes {name}, as in `{}`", remedy(division, value)));
    if division.in_loop { draft.note("inside a loop: at least hoist it") } else { draft }
}

fn draft(view: &View<'_>, judged: &Judged<'_, Division>, message: String) -> Draft {
    let division = judged.worst.fact;
    let value = match division.divisor {
        Divisor::Constant(value) | Divisor::AtLaunch(value) | Divisor::WarpSize(value) => value,
        Divisor::Runtime => 0,
    };
    let mut draft = Draft::new(judged.span, judged.confidence, message)
        .kernel(judged.kernel())
        .count("divisor", value)
        .count("bits", division.bits)
        .notes(sites::instance_note(judged));
    if matches!(division.divisor, Divisor::AtLaunch(_)) {
        draft = draft.notes(judged.launch_notes(view));
    }
    draft
}

/// `x / 64` as `(x >> 6)`, `x % 64` as `(x & 63)`: the same for every value that is not negative.
///
/// Only for a divisor written as a plain number, so that no name is lost and the type of the result stays.
fn shift_fix(view: &View<'_>, division: &Division, value: i64) -> Option<Fix> {
    if division.span.in_macro || division.left.in_macro || division.right.in_macro {
        return None;
    }
    let right = view.raw(division.right).trim();
    if right.is_empty() || !right.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let left = view.raw(division.left).trim();
    if left.is_empty() {
        return None;
    }
    let left = in_parentheses(left.to_owned());
    let remedy = remedy(division, value);
    Some(Fix {
        safety: Safety::Safe,
        title: format!("`{remedy}`, the same for values that are not negative"),
        edits: vec![(division.span, format!("({left} {remedy})"))],
    })
}
