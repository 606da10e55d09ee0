import type { Command } from "commander";
import { examplesHelp, outputOption } from "./command-line.ts";
import type { GlobalFlags } from "./connect.ts";
import type { OutputFormat } from "./output.ts";
import type { Adding } from "./program.ts";

type Flags = GlobalFlags & { readonly output: OutputFormat; readonly check: boolean; readonly all?: boolean };

/** Commands about who calls which service. */
export function addAccountCommands({ groupFor, run }: Adding): void {
  const root = groupFor([]);
  const flagsOf = (command: Command) => command.optsWithGlobals<Flags>();

  root
    .command("login")
    .summary("Keep a key for a service.")
    .description(
      "Keeps an API key, typed when asked or read from stdin, under the name that --context gives. The service is asked first whether it takes the key. It lies in the system's keychain, or in a file that only this user may read; SHOAL_KEYCHAIN=0 chooses the file. Commands use it when SHOAL_API_KEY is not set.",
    )
    .option("--no-check", "Do not ask the service whether it takes the key.")
    .addHelpText(
      "after",
      examplesHelp(["shoal login", "shoal login --context work --base-url https://shoal.example.com", "shoal login --context ci < key.txt"]),
    )
    .action(async (_options: unknown, command: Command) => {
      const { login } = await import("./account.ts");
      await login(flagsOf(command), run);
    });

  root
    .command("logout")
    .summary("Forget a key.")
    .description("Forgets the current context and its key, or the one that --context names. The service still takes the key until it is deleted.")
    .option("--all", "Every context.")
    .addHelpText("after", examplesHelp(["shoal logout", "shoal logout --context work"]))
    .action(async (_options: unknown, command: Command) => {
      const { logout } = await import("./account.ts");
      logout(flagsOf(command), run);
    });

  root
    .command("whoami")
    .summary("Tell which service and which key commands use.")
    .description("Tells which service and which key commands use, and what the service says of the key.")
    .addOption(outputOption())
    .addHelpText("after", examplesHelp(["shoal whoami", "shoal whoami --context work -o json"]))
    .action(async (_options: unknown, command: Command) => {
      const { whoAmI } = await import("./account.ts");
      await whoAmI(flagsOf(command), run);
    });

  const contexts = root
    .command("contexts")
    .alias("context")
    .description("Services and keys, by names of your own.")
    .addHelpText("after", examplesHelp(["shoal contexts list", "shoal contexts use work"]));
  contexts
    .command("list")
    .summary("List contexts.")
    .description("Lists contexts; * marks the one that commands use.")
    .addOption(outputOption())
    .addHelpText("after", examplesHelp(["shoal contexts list"]))
    .action(async (_options: unknown, command: Command) => {
      const { listContexts } = await import("./account.ts");
      await listContexts(flagsOf(command), run);
    });
  contexts
    .command("use")
    .argument("<name>", "A context.")
    .summary("Choose the context that commands use.")
    .description(
      "Chooses the context that commands use when neither --context nor SHOAL_CONTEXT names one; with --project also the project that it works in.",
    )
    .addHelpText("after", examplesHelp(["shoal contexts use work", "shoal contexts use work --project research"]))
    .action(async (name: string, _options: unknown, command: Command) => {
      const { switchContext } = await import("./account.ts");
      switchContext(name, flagsOf(command), run);
    });
}
