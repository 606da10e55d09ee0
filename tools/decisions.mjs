// Writes the index of docs/decisions, a line a page, by the page's own title. With --check only says whether it is up to date.
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
    if (title === undefined) throw new Error(`docs/decisions/${name} begins with no title.`);
    return `- [${basename(name, ".md")}](${name}): ${title}`;
  });

const text = `# Decisions

One page a decision that outlives its pull request: context, decision, consequences. A page is not rewritten when the decision changes;
a new page replaces it and says so. \`node tools/decisions.mjs\` writes this list.

${lines.join("\n")}
`;
writeOrCheck("docs/decisions/README.md", text, { source: "the pages beside it", tool: "decisions.mjs" });
