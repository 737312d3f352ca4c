// CHANGELOGs for readers: the text of each change as it was written, without hashes of commits, and without lists of
// packages of this repository, which always have the same version.
module.exports = {
  getReleaseLine: async ({ summary }) => `\n${summary.trim()}`,
  getDependencyReleaseLine: async () => "",
};
