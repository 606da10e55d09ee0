import type { Command } from "commander";
import type { Adding, GlobalFlags, OutputFormat } from "../../core/types.ts";
import { examplesHelp, outputOption } from "../command-line.ts";
import type { BenchFlags } from "./bench/bench.ts";

type Flags = GlobalFlags & { readonly output: OutputFormat };

export function addServiceCommands({ groupFor, run, specOf }: Adding): void {
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

  root
    .command("bench")
    .summary("Measure sessions on this machine")
    .description(
      "Measure sessions on this machine, next to Chromium started by hand\n\nStarts a service on a temporary data directory and removes it at the end. Takes about two minutes on an idle machine. Ctrl-C ends all browsers of the run.\n\nExits with status 1 if sessions, processes or files are left.",
    )
    .option("--running", "Measure the service of this connection instead of a new one")
    .option("--quick", "Measure fewer sessions")
    .option("--lives <number>", "Lives of each scenario (default: 100, with --quick 10)")
    .option("--sessions <number>", "Largest number of sessions at once (default: 50, with --quick 10)")
    .addOption(outputOption())
    .addHelpText(
      "after",
      examplesHelp(["shoal bench", "shoal bench --quick -o json", "shoal bench --running --sessions 10"]),
    )
    .action(async (_options: unknown, command: Command) => {
      const { bench } = await import("./bench/bench.ts");
      const specs = {
        create: specOf("browsers.create"),
        end: specOf("browsers.delete"),
        list: specOf("browsers.list"),
      };
      await bench(specs, command.optsWithGlobals<BenchFlags>(), run);
    });
}
