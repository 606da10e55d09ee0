import { type Command, Option } from "commander";
import type { Adding } from "../../core/types.ts";
import { examplesHelp } from "../command-line.ts";
import { showsDryRun } from "../dry-run.ts";
import type { SkillFlags } from "./skill-file.ts";

export function addSkillCommands({ groupFor, run }: Adding): void {
  const skill = groupFor([])
    .command("skill")
    .summary("Teach agents with a shell the command shoal")
    .description(
      "Teach agents with a shell the command shoal\n\nAgents such as Claude Code and Codex read skills: folders with a file SKILL.md. The skill of Shoal explains how to use a browser with this command.",
    )
    .addHelpText("after", examplesHelp(["shoal skill install", "shoal skill install --client claude-code --folder ."]));

  withFlags(showsDryRun(skill.command("install")))
    .summary("Write the skill for agents on this machine")
    .description(
      "Write the skill for agents on this machine\n\nRun it again after an update of this command. A changed or foreign file is kept unless --force is given; then it remains next to the new one, as SKILL.md.before-shoal.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal skill install",
        "shoal skill install --client codex --dry-run",
        "shoal skill install --client claude-code --folder .",
      ]),
    )
    .action(async (_options: unknown, command: Command) => {
      const { install } = await import("./skill-file.ts");
      install(command.optsWithGlobals<SkillFlags>(), run);
    });

  withFlags(showsDryRun(skill.command("uninstall")))
    .summary("Remove the skill from agents")
    .description("Remove the file of `shoal skill install` from agents")
    .addHelpText("after", examplesHelp(["shoal skill uninstall", "shoal skill uninstall --folder ."]))
    .action(async (_options: unknown, command: Command) => {
      const { uninstall } = await import("./skill-file.ts");
      uninstall(command.optsWithGlobals<SkillFlags>(), run);
    });
}

function withFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--client <name>", "Client (repeatable; default: all on this machine)").argParser(
        (value: string, previous: string[] | undefined) => [...(previous ?? []), value],
      ),
    )
    .option("--name <name>", "Name of the skill and of its folder", "shoal")
    .option("--folder <path>", "Folder of a project (default: the home of the user, for all projects)")
    .option("--force", "Also replace or remove a file that was changed or written by others");
}
