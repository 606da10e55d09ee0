import type { Command } from "commander";
import type { Adding, GlobalFlags, OutputFormat } from "../../core/types.ts";
import { examplesHelp, outputOption } from "../command-line.ts";

type Flags = GlobalFlags & {
  readonly output: OutputFormat;
  readonly check: boolean;
  readonly all?: boolean;
  readonly print?: boolean;
};

export function addAccountCommands(adding: Adding): void {
  addLogin(adding);
  addLogout(adding);
  addWhoAmI(adding);
  addContexts(adding);
  addConsole(adding);
}

function addLogin({ groupFor, run }: Adding): void {
  groupFor([])
    .command("login")
    .summary("Store an API key")
    .description(
      "Store an API key for a service, under the name given with --context\n\nPrompts for the key, or reads it from stdin. Checks the key with the service first. Stores it in the system keychain, or in a private file without a keychain or with SHOAL_KEYCHAIN=0. SHOAL_API_KEY overrides stored keys.",
    )
    .option("--no-check", "Store the key without checking it")
    .addHelpText(
      "after",
      examplesHelp([
        "shoal login",
        "shoal login --context work --base-url https://shoal.example.com",
        "shoal login --context ci < key.txt",
      ]),
    )
    .action(async (_options: unknown, command: Command) => {
      const { login } = await import("./account.ts");
      await login(command.optsWithGlobals<Flags>(), run);
    });
}

function addLogout({ groupFor, run }: Adding): void {
  groupFor([])
    .command("logout")
    .summary("Delete a stored API key")
    .description(
      "Delete the current context and its key, or the context given with --context\n\nThe key itself stays valid until it is deleted with shoal api-keys delete.",
    )
    .option("--all", "Delete all contexts")
    .addHelpText("after", examplesHelp(["shoal logout", "shoal logout --context work"]))
    .action(async (_options: unknown, command: Command) => {
      const { logout } = await import("./account.ts");
      logout(command.optsWithGlobals<Flags>(), run);
    });
}

function addWhoAmI({ groupFor, run }: Adding): void {
  groupFor([])
    .command("whoami")
    .description("Show the service and the key in use")
    .addOption(outputOption())
    .addHelpText("after", examplesHelp(["shoal whoami", "shoal whoami --context work -o json"]))
    .action(async (_options: unknown, command: Command) => {
      const { whoAmI } = await import("./account.ts");
      await whoAmI(command.optsWithGlobals<Flags>(), run);
    });
}

function addContexts({ groupFor, run }: Adding): void {
  const contexts = groupFor([])
    .command("contexts")
    .alias("context")
    .description("Switch between services")
    .addHelpText("after", examplesHelp(["shoal contexts list", "shoal contexts use work"]));
  contexts
    .command("list")
    .summary("List contexts")
    .description("List contexts; * marks the current one")
    .addOption(outputOption())
    .addHelpText("after", examplesHelp(["shoal contexts list"]))
    .action(async (_options: unknown, command: Command) => {
      const { listContexts } = await import("./account.ts");
      await listContexts(command.optsWithGlobals<Flags>(), run);
    });
  contexts
    .command("use")
    .argument("<name>", "Name of the context")
    .summary("Set the current context")
    .description(
      "Set the current context, which commands use without --context and SHOAL_CONTEXT\n\nWith --project, also set its project.",
    )
    .addHelpText("after", examplesHelp(["shoal contexts use work", "shoal contexts use work --project research"]))
    .action(async (name: string, _options: unknown, command: Command) => {
      const { switchContext } = await import("./account.ts");
      switchContext(name, command.optsWithGlobals<Flags>(), run);
    });
}

function addConsole({ groupFor, run }: Adding): void {
  groupFor([])
    .command("console")
    .option("--print", "Print the link instead of opening it")
    .summary("Open the console in your browser, signed in")
    .description(
      "Open the console in your browser, signed in with the current key\n\nThe link works once, within 60 seconds. Prints it if no browser can be opened.",
    )
    .addHelpText("after", examplesHelp(["shoal console", "shoal console --print"]))
    .action(async (_options: unknown, command: Command) => {
      const { openConsole } = await import("./console.ts");
      await openConsole(command.optsWithGlobals<Flags>(), run);
    });
}
