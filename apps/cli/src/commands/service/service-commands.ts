import type { Command } from "commander";
import type { Adding, GlobalFlags, OutputFormat } from "../../core/types.ts";
import { examplesHelp, outputOption } from "../command-line.ts";

type Flags = GlobalFlags & { readonly output: OutputFormat };

export function addServiceCommands({ groupFor, run }: Adding): void {
  const root = groupFor([]);

  root
    .command("serve")
    .summary("Run the service")
    .usage("[settings]")
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .action(async (_options: unknown, command: Command) => {
      const { serve } = await import("./serve.ts");
      await serve(command.args, run);
    });

  root
    .command("doctor")
    .summary("Check this machine's requirements")
    .description(
      "Check the Chromium, isolation and database that sessions on this machine would use\n\nExits with status 12 if a requirement is missing.",
    )
    .addOption(outputOption())
    .addHelpText("after", examplesHelp(["shoal doctor", "shoal doctor && shoal serve"]))
    .action(async (_options: unknown, command: Command) => {
      const { doctor } = await import("./doctor.ts");
      await doctor(command.optsWithGlobals<Flags>(), run);
    });
}
