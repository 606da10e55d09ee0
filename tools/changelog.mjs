// Writes the lines of CHANGELOG.md for Changesets: without commit hashes, and each updated dependency once.
export default {
  /** @param {{ summary: string }} changeset @returns {Promise<string>} */
  async getReleaseLine({ summary }) {
    const [first, ...rest] = summary.split("\n").map((line) => line.trimEnd());
    return [`- ${first}`, ...rest.map((line) => (line === "" ? "" : `  ${line}`))].join("\n");
  },

  /** @param {unknown} _changesets @param {{ name: string, newVersion: string }[]} dependencies @returns {Promise<string>} */
  async getDependencyReleaseLine(_changesets, dependencies) {
    if (dependencies.length === 0) return "";
    return ["- Updated dependencies", ...dependencies.map(({ name, newVersion }) => `  - ${name}@${newVersion}`)].join(
      "\n",
    );
  },
};
