// Writes docs/cli.md, the list of all commands of `shoal` with their flags, from the command line itself. With
// `--check` it only compares.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onSources, writeOrCheck } from "./generated-file.mjs";

onSources(import.meta.url);
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { splitTable } = await import("../apps/cli/src/table/split-table.ts");
const { commandTable } = await import("../apps/cli/src/table/command-table.ts");
const { groups } = await import("../apps/cli/src/table/groups.ts");
const { entries } = await import("../apps/cli/src/table/entries.ts");
const { buildProgram } = await import("../apps/cli/src/commands/program.ts");
const { argumentsOf } = await import("../apps/cli/src/commands/command-line.ts");
const { operationsNotYet } = await import("./not-yet.mjs");

const document = JSON.parse(readFileSync(join(root, "packages/contract/openapi.json"), "utf8"));
const { index, tables } = splitTable(commandTable(document, entries), groups, {
  version: "0.0.0",
  notYet: operationsNotYet,
});
// Nothing is printed, so these values do not matter.
const terminal = { width: 80, colour: false, errorColour: false };
const program = buildProgram(
  { index, load: (word) => tables[`of-${word}`] ?? [] },
  { terminal, env: {}, signal: new globalThis.AbortController().signal },
);
program.fillAll();
/** Flags of every command that prints a result. */
const common = new Set(["--output", "--query"]);
writeOrCheck("docs/cli.md", textOf(program.root), { source: "the commands", tool: "commands.mjs" });

function textOf(shoal) {
  const leaves = shoal.commands.filter(runs);
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
    ...shoal.options
      .filter(({ hidden }) => !hidden)
      .map(({ flags, description }) => `| \`${flags}\` | ${cell(description)} |`),
    "",
    "## shoal",
    "",
    ...tableOf(leaves),
  ];
  for (const group of shoal.commands.filter((command) => !isLeaf(command))) addGroup(lines, group);
  return `${lines.join("\n")}\n`;
}

function addGroup(lines, group) {
  lines.push("", `## ${pathOf(group)}`, "", group.description(), "");
  const leaves = group.commands.filter(runs);
  if (leaves.length > 0) lines.push(...tableOf(leaves));
  else lines.splice(-1);
  for (const inner of group.commands.filter((command) => !isLeaf(command))) addGroup(lines, inner);
}

function isLeaf({ commands }) {
  return commands.length === 0;
}

/** A group with arguments is a command as well: `shoal deploy ENTRYPOINT`. */
function runs(command) {
  return isLeaf(command) || command.registeredArguments.length > 0;
}

function tableOf(commands) {
  const shown = commands.filter((command) => command.name() !== "help" && !command._hidden);
  return [
    "| command | what | flags |",
    "| --- | --- | --- |",
    ...shown.map(
      (command) =>
        `| \`${usageOf(command)}\` | ${cell(command.summary() || command.description())} | ${flagsOf(command)} |`,
    ),
  ];
}

function usageOf(command) {
  return `${pathOf(command)} ${argumentsOf(command)}`.trimEnd();
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
