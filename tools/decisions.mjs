// Writes the index of docs/decisions, one line per page with its title. With --check it only compares.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeOrCheck } from "./generated-file.mjs";

const folder = fileURLToPath(new URL("../docs/decisions", import.meta.url));

const lines = globSync("*.md", { cwd: folder })
  .filter((name) => name !== "README.md")
  .sort()
  .map((name) => {
    const title = /^# (.+)$/m.exec(readFileSync(join(folder, name), "utf8"))?.[1];
    if (title === undefined) throw new Error(`docs/decisions/${name} has no title. Begin it with "# Title".`);
    return `- [${basename(name, ".md")}](${name}): ${title}`;
  });

const text = `# Decisions

The decisions that shape the architecture, each with its context and consequences. When a decision changes, rewrite its
page; git keeps the history. \`node tools/decisions.mjs\` writes this list.

${lines.join("\n")}
`;
writeOrCheck("docs/decisions/README.md", text, { source: "the pages next to it", tool: "decisions.mjs" });
