// Writes docs/cli.md, the list of all commands of `shoal` with their flags, from the command line itself; `--check` only says whether it
// is up to date.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "docs/cli.md");
const condition = "--conditions=@shoal/source";

// The sources are read, not what was built from them: the list cannot be stale because a build is.
if (!process.execArgv.includes(condition)) {
  const { status } = spawnSync(process.execPath, [condition, fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  process.exit(status ?? 1);
}

const { splitTable } = await import("../apps/cli/src/build/split-table.ts");
const { commandTable } = await import("../apps/cli/src/command-table.ts");
const { groups } = await import("../apps/cli/src/groups.ts");
const { polish } = await import("../apps/cli/src/polish.ts");
const { buildProgram } = await import("../apps/cli/src/program.ts");

const document = JSON.parse(readFileSync(join(root, "packages/contract/openapi.json"), "utf8"));
const { index, tables } = splitTable(commandTable(document, polish), groups, "0.0.0");
// Nothing is printed: only the commands are looked at.
const terminal = { width: 80, colour: false, errorColour: false };
const program = buildProgram({ index, load: (word) => tables[`of-${word}`] ?? [] }, { terminal, env: {}, signal: new globalThis.AbortController().signal });
program.fillAll();
/** Of every command that prints a result. */
const common = new Set(["--output", "--query"]);
const text = textOf(program.root);

if (!process.argv.includes("--check")) {
  writeFileSync(target, text);
} else if (!existsSync(target) || readFileSync(target, "utf8") !== text) {
  console.error("docs/cli.md does not fit the commands any more: run `node tools/commands.mjs` and commit what it writes.");
  process.exit(1);
}

function textOf(shoal) {
  const leaves = shoal.commands.filter(isLeaf);
  const lines = [
    "# Commands",
    "",
    "<!-- Written by `node tools/commands.mjs`; not by hand. -->",
    "",
    "Every command of `shoal`. `shoal COMMAND --help` says what each flag means, with examples; [the guide](guide/command-line.md) is where to begin.",
    "",
    "Commands that print a result also take `-o`, `--output table|json|jsonl|yaml`, and `--query` with a JMESPath expression. Every command takes these:",
    "",
    "| flag | what |",
    "| --- | --- |",
    ...shoal.options.filter(({ hidden }) => !hidden).map(({ flags, description }) => `| \`${flags}\` | ${cell(description)} |`),
    "",
    "## shoal",
    "",
    ...tableOf(leaves),
  ];
  for (const group of shoal.commands.filter((command) => !isLeaf(command))) addGroup(lines, group);
  return `${lines.join("\n")}\n`;
}

/** A group's commands, then the groups below it. */
function addGroup(lines, group) {
  lines.push("", `## ${pathOf(group)}`, "", group.description(), "");
  const leaves = group.commands.filter((command) => isLeaf(command));
  if (leaves.length > 0) lines.push(...tableOf(leaves));
  else lines.splice(-1);
  for (const inner of group.commands.filter((command) => !isLeaf(command))) addGroup(lines, inner);
}

function isLeaf({ commands }) {
  return commands.length === 0;
}

function tableOf(commands) {
  const shown = commands.filter((command) => command.name() !== "help" && !command._hidden);
  return ["| command | what | flags |", "| --- | --- | --- |", ...shown.map((command) => `| \`${usageOf(command)}\` | ${cell(command.summary() || command.description())} | ${flagsOf(command)} |`)];
}

function usageOf(command) {
  const words = command.registeredArguments.map((argument) => (argument.variadic ? `<${argument.name()}...>` : argument.required ? `<${argument.name()}>` : `[${argument.name()}]`));
  return [pathOf(command), ...words].join(" ");
}

function flagsOf({ options }) {
  return options
    .filter(({ hidden, long }) => !hidden && !common.has(long))
    .map(({ long, short }) => `\`${long ?? short}\``)
    .join(" ");
}

function pathOf(command) {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function cell(words) {
  return words.replaceAll("|", "\\|").replaceAll("\n", " ");
}
