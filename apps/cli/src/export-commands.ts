import { examplesHelp, outputOption, queryOption } from "./command-line.ts";
import type { Adding } from "./program.ts";

const verbs = [
  {
    verb: "pause",
    status: "paused",
    summary: "Stop copying the audit log to a destination.",
    description: "Stops copying the audit log to a destination, which stays as it is.",
  },
  {
    verb: "resume",
    status: "active",
    summary: "Copy the audit log to a paused destination again.",
    description: "Copies the audit log to a paused destination again.",
  },
] as const;

/** What people say instead of `shoal audit-logs export update ID --status paused`. */
export function addExportCommands({ groupFor, run, names, likeOperation, specOf }: Adding): void {
  const operationId = "auditLogs.exportDestinations.update";
  for (const { verb, status, summary, description } of verbs) {
    const command = groupFor(["audit-logs", "export"])
      .command(verb)
      .argument("<id>", "A destination.")
      .addOption(outputOption())
      .addOption(queryOption())
      .summary(summary)
      .description(description)
      .addHelpText("after", examplesHelp([`shoal audit-logs export ${verb} n6ymbq3ub5nxvlj4e1vk9hgy`]))
      .action(async () => {
        const { runOperation } = await import("./run-operation.ts");
        await runOperation(
          specOf(operationId),
          {
            args: command.args,
            options: { ...command.opts(), status },
            globals: command.optsWithGlobals(),
            flags: { status: { key: "status", name: verb } },
          },
          run,
        );
      });
    names.set(command, { id: "<id>", status: verb });
    likeOperation.set(command, operationId);
  }
}
