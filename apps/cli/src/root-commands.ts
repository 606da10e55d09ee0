import type { Command } from "commander";
import type { GlobalFlags } from "./connect.ts";
import { examplesHelp, outputOption } from "./command-line.ts";
import type { OutputFormat } from "./output.ts";
import type { Adding } from "./program.ts";

/** What commands get of their flags; which of them are there is in each one's declaration. */
type Flags = GlobalFlags & { readonly output: OutputFormat };

/** Commands that are no operation of the service. */
export function addRootCommands({ groupFor, run }: Adding): void {
  const root = groupFor([]);
  const flagsOf = (command: Command) => command.optsWithGlobals<Flags>();

  root
    .command("serve")
    .summary("Run the service.")
    .description("Runs the service until it is stopped.")
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
    .summary("Tell what this machine has for sessions.")
    .description(
      "Tells which Chromium, which isolation and which database sessions would get on this machine, with one line of advice each. Exit status 12 when something is missing without which the service cannot run them.",
    )
    .addOption(outputOption())
    .addHelpText("after", examplesHelp(["shoal doctor", "shoal doctor && shoal serve"]))
    .action(async (_options: unknown, command: Command) => {
      const { doctor } = await import("./doctor.ts");
      await doctor(flagsOf(command), run);
    });
}
