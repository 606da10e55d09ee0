import type { Adding } from "../core/types.ts";
import { examplesHelp, outputOption, queryOption } from "./command-line.ts";
import { showsDryRun } from "./dry-run.ts";

const verbs = [
  { verb: "pause", status: "paused", summary: "Pause the export to a destination" },
  { verb: "resume", status: "active", summary: "Start or resume the export to a destination" },
] as const;

const operationId = "auditLogs.exportDestinations.update";

/** Short forms of `shoal audit-logs export update ID --status …`. */
export function addExportCommands({ groupFor, run, names, likeOperation, specOf }: Adding): void {
  for (const { verb, status, summary } of verbs) {
    const command = showsDryRun(groupFor(["audit-logs", "export"]).command(verb))
      .argument("<id>", "ID of the destination")
      .addOption(outputOption())
      .addOption(queryOption())
      .description(summary)
      .addHelpText("after", examplesHelp([`shoal audit-logs export ${verb} n6ymbq3ub5nxvlj4e1vk9hgy`]))
      .action(async () => {
        const { runOperation } = await import("../operations/run-operation.ts");
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
