import type { Command } from "commander";
import type { Adding } from "../../core/types.ts";
import { collect, examplesHelp, outputOption } from "../command-line.ts";
import { showsDryRun } from "../dry-run.ts";
import type { ConnectFlags } from "./connect.ts";

export function addAuthCommands({ groupFor, likeOperation, run, specOf }: Adding): void {
  const command = showsDryRun(groupFor(["auth"]).command("connect"))
    .argument("<domain>", "Site to sign in to: example.com")
    .requiredOption("--profile <name>", "Profile that stores the login; created if it does not exist (required)")
    .option("--credential <name>", "Stored credential to sign in with")
    .option("--login-url <url>", "URL of the login form (default: detected)")
    .option(
      "--value <name=value>",
      "Answer for a field, used once: username=me, password=@FILE or password=- for stdin (repeatable)",
      collect,
    )
    .option("--open", "Open the hosted login page in the browser of this machine")
    .addOption(outputOption())
    .summary("Sign a profile in to a site")
    .description(
      [
        "Sign a profile in to a site",
        "Creates the connection of the profile to the site, starts a login, and prompts for everything that the site requires. Passwords are not shown. The hosted login page, whose address is printed, takes the same answers.",
        "Without a terminal, answer with --value. With -o jsonl, prints each event as one line, and reads answers from stdin: one JSON object per line, as the body of auth.connections.submit.",
      ].join("\n\n"),
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal auth connect example.com --profile shop",
        "shoal auth connect example.com --profile shop --credential shop",
        "shoal auth connect example.com --profile shop --value username=me --value password=@password.txt",
      ]),
    )
    .action(async (domain: string, _options: unknown, self: Command) => {
      const { connectSite } = await import("./connect.ts");
      await connectSite(domain, specOf, self.optsWithGlobals<ConnectFlags>(), run);
    });
  likeOperation.set(command, "auth.connections.create");
}
