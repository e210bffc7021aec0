//! A bar on standard error for runs that take longer than a second, when a person is watching.

use crate::pipeline::Progress;

#[cfg(feature = "progress")]
mod bar {
    use std::io::IsTerminal;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

    const DELAY: Duration = Duration::from_secs(1);
    const TICK: Duration = Duration::from_millis(200);

    pub(in super::super) struct Bar {
        drawn: ProgressBar,
        started: Instant,
        is_watched: bool,
        shown: OnceLock<()>,
    }

    impl Bar {
        pub(in super::super) fn new() -> Self {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            if let Ok(style) = ProgressStyle::with_template("{msg:>10} {wide_bar} {pos}/{len}") {
                bar.set_style(style);
            }
            Self {
                drawn: bar,
                started: Instant::now(),
                is_watched: std::io::stderr().is_terminal(),
                shown: OnceLock::new(),
            }
        }

        pub(in super::super) fn finish(&self) {
            self.drawn.finish_and_clear();
        }

        fn show_when_due(&self) {
            if self.is_watched && self.started.elapsed() > DELAY {
                self.shown.get_or_init(|| {
                    self.drawn.set_draw_target(ProgressDrawTarget::stderr());
                    self.drawn.enable_steady_tick(TICK);
                });
            }
        }
    }

    impl super::Progress for Bar {
        fn stage(&self, name: &'static str, steps: usize) {
            // A stage that cannot tell its steps shows that it is at work.
            let template = if steps == 0 { "{msg:>10} {spinner}" } else { "{msg:>10} {wide_bar} {pos}/{len}" };
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.drawn.set_style(style);
            }
            self.drawn.set_message(name);
            self.drawn.set_length(steps as u64);
            self.drawn.set_position(0);
            self.show_when_due();
        }

        fn step(&self) {
            self.drawn.inc(1);
            self.show_when_due();
        }
    }
}

#[cfg(not(feature = "progress"))]
mod bar {
    pub(in super::super) struct Bar;

    impl Bar {
        pub(in super::super) fn new() -> Self {
            Self
        }

        #[expect(clippy::unused_self, reason = "the same calls with and without a bar")]
        pub(in super::super) fn finish(&self) {}
    }

    impl super::Progress for Bar {
        fn stage(&self, _name: &'static str, _steps: usize) {}
        fn step(&self) {}
    }
}

pub(super) use bar::Bar;
