//! Names of new kernels.

use lightbench_core::display_text::visible;
use lightbench_core::project::Project;
use lightbench_core::project::names::is_file_name;

/// Whether a new kernel can have this name.
pub(super) fn may_be_called(project: &Project, name: &str) -> Result<(), String> {
    if !is_file_name(name) {
        return Err(format!("`{}` is not a valid kernel name", visible(name)));
    }
    if project.kernel(name).is_ok() {
        return Err(format!("the project already has a kernel `{}`", visible(name)));
    }
    Ok(())
}
