// SPDX-License-Identifier: GPL-2.0-only
//! The settings of a disk: elevator, model and size, checked against the catalogues.

use std::path::PathBuf;

use block_queue::QueueError;
use block_queue::kernel::{KERNEL_ELEVATORS, KernelElevator, Tuning};
use disk_model::DISKS;
use disk_model::catalogue as disks;
use elevators::parameters::ParameterError;
use elevators::{Settings, catalogue};

use crate::catalogue::Attribution;
use crate::driver::abi;
use crate::error::DiskError;
use crate::record::Description;

const SECTORS_PER_MB: u64 = 2048;

/// Largest request of the kernel (2003: "max request size: 128KiB" of many IDE drives).
pub const MAX_KB: u32 = 128;

#[derive(Debug)]
pub enum ChosenElevator {
    /// In the disk's server.
    Ours(Settings),
    /// One of the kernel, with its tunables to set.
    Kernel(&'static KernelElevator, Tuning),
}

#[derive(Debug)]
pub struct Setup {
    pub elevator: ChosenElevator,
    pub model: Settings,
    pub sectors: u64,
    /// The file for the data; None for memory.
    pub file: Option<PathBuf>,
    /// The file with the first content of the disk; None for zeros.
    pub content: Option<PathBuf>,
    /// Whether a log of each request is kept.
    pub with_log: bool,
}

impl Setup {
    /// Checks the settings: `parameters` are the elevator's, `model` is NAME or NAME:key=value,...
    /// The default size is the model's.
    ///
    /// # Errors
    /// A name or value is in no catalogue, or the size does not fit the model.
    pub fn new(
        elevator: &str,
        parameters: &[String],
        model: &str,
        size_mb: Option<u64>,
    ) -> Result<Self, DiskError> {
        let elevator = find_elevator(elevator, parameters)?;
        let model = find_model(model)?;
        let model_sectors = model.get("sectors");
        let sectors = match size_mb {
            None => model_sectors / SECTORS_PER_MB * SECTORS_PER_MB,
            Some(0) => return Err(DiskError::TooSmall),
            Some(size_mb) => match size_mb.checked_mul(SECTORS_PER_MB) {
                Some(sectors) if sectors <= model_sectors => sectors,
                _ => {
                    let model_mb = model_sectors / SECTORS_PER_MB;
                    return Err(DiskError::TooLarge { size_mb, model_mb });
                }
            },
        };
        Ok(Self { elevator, model, sectors, file: None, content: None, with_log: false })
    }

    /// The description of the disk for others, with `parameters` and `model` as they were given.
    pub fn description(&self, parameters: &[String], model: &str) -> Description {
        let pairs = parameters.iter().filter_map(|pair| pair.split_once('='));
        Description {
            elevator: self.elevator_name().into(),
            parameters: pairs.map(|(key, value)| (key.into(), value.into())).collect(),
            model: model.into(),
            size_mb: self.size_mb(),
            file: self.file.clone(),
            identity: self.attribution().name().into(),
        }
    }

    pub fn size_mb(&self) -> u64 {
        self.sectors / SECTORS_PER_MB
    }

    /// How many requests the disk takes at a time. An elevator can only order requests that wait in
    /// front of the disk: behind the kernel's elevators it takes one at a time, as IDE disks did;
    /// with ours it takes all.
    pub fn depth(&self) -> u16 {
        match self.elevator {
            ChosenElevator::Ours(_) => abi::MAX_DEPTH,
            ChosenElevator::Kernel(..) => 1,
        }
    }

    /// The settings of the server's elevator.
    pub fn served_with(&self) -> Settings {
        match &self.elevator {
            ChosenElevator::Ours(settings) => settings.clone(),
            ChosenElevator::Kernel(..) => {
                Settings::new(catalogue::find("noop").expect("it is in the catalogue"))
            }
        }
    }

    pub fn elevator_name(&self) -> &'static str {
        match &self.elevator {
            ChosenElevator::Ours(settings) => settings.description.name,
            ChosenElevator::Kernel(kernel, _) => kernel.name,
        }
    }

    /// How the process of each request is found.
    pub fn attribution(&self) -> Attribution {
        match &self.elevator {
            ChosenElevator::Ours(settings) => Attribution::of_ours(settings.description),
            ChosenElevator::Kernel(..) => Attribution::Kernel,
        }
    }

    /// Whether the kernel has an elevator of its own in front of the disk.
    pub fn is_behind_elevator(&self) -> bool {
        matches!(self.elevator, ChosenElevator::Kernel(..))
    }

    pub fn has_write_cache(&self) -> bool {
        self.model.choice("write_cache") == "on"
    }

    pub fn is_rotational(&self) -> bool {
        self.model.choice("moving_parts") == "yes"
    }
}

fn find_elevator(name: &str, parameters: &[String]) -> Result<ChosenElevator, DiskError> {
    if let Some(kernel) = KernelElevator::find(name) {
        let given = kernel.parse(parameters).map_err(|error| bad(name, error))?;
        return Ok(ChosenElevator::Kernel(kernel, given));
    }
    let description = catalogue::find(name).ok_or_else(|| {
        let ours = catalogue::ELEVATORS.iter().map(|elevator| elevator.name);
        let kernels = KERNEL_ELEVATORS.iter().map(|kernel| kernel.name);
        QueueError::unknown_elevator(name, ours.chain(kernels))
    })?;
    Settings::parse(description, parameters.iter().map(String::as_str))
        .map(ChosenElevator::Ours)
        .map_err(|error| bad(name, error))
}

fn find_model(text: &str) -> Result<Settings, DiskError> {
    let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
    let pairs = pairs.split(',').filter(|pair| !pair.is_empty());
    let settings = disks::settings(name, pairs).ok_or_else(|| {
        let known: Vec<_> = DISKS.iter().map(|preset| preset.name).collect();
        DiskError::UnknownModel { name: name.into(), known: known.join(", ") }
    })?;
    settings.map_err(|error| bad(name, error))
}

fn bad(owner: &str, error: ParameterError) -> DiskError {
    DiskError::BadParameter { owner: owner.into(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(elevator: &str, parameters: &[&str], model: &str, size_mb: Option<u64>) -> String {
        let parameters: Vec<String> = parameters.iter().map(|text| (*text).to_owned()).collect();
        let error = Setup::new(elevator, &parameters, model, size_mb).unwrap_err();
        assert_eq!(error.exit_code(), 64);
        error.to_string()
    }

    #[test]
    fn a_disk_is_as_large_as_its_model_unless_it_is_smaller() {
        let size = |size_mb| Setup::new("cfq", &[], "ide2003", size_mb).unwrap().sectors;
        assert_eq!(size(None), 78_000_000 / 2048 * 2048);
        assert_eq!(size(Some(64)), 64 * 2048);
        assert!(refusal("cfq", &[], "ide2003", Some(40_000)).contains("38085 MiB"));
        assert!(refusal("cfq", &[], "ide2003", Some(u64::MAX)).contains("larger than its model"));
        refusal("cfq", &[], "ide2003", Some(0));
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        assert!(refusal("cfx", &[], "ide2003", None).contains("anticipatory"));
        assert!(refusal("cfq", &[], "ide2004", None).contains("ide2003, scsi10k, none"));
        let range = refusal("anticipatory", &["antic_expire_ms=2000"], "ide2003", None);
        assert!(range.contains("antic_expire_ms") && range.contains("0..1000 ms"), "{range}");
        assert!(refusal("cfq", &[], "ide2003:rpm=1", None).contains("1000..30000"));
        assert!(
            refusal("bfq", &["slice_idle=0"], "ide2003", None).contains("it has slice_idle_us")
        );
    }

    #[test]
    fn the_kernels_elevators_see_one_request_at_a_time() {
        let setup = |name| Setup::new(name, &[], "ide2003", Some(64)).unwrap();
        assert_eq!((setup("bfq").depth(), setup("bfq").attribution()), (1, Attribution::Kernel));
        assert_eq!(
            (setup("cfq").depth(), setup("cfq").attribution()),
            (4096, Attribution::Process)
        );
        assert_eq!(setup("noop").attribution(), Attribution::None);
        assert_eq!(setup("bfq").served_with().description.name, "noop");
    }
}
