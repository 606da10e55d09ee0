// Adds the team's commands to `shoal`: SHOAL_PLUGINS=@shoal/example-extension/commands shoal deliveries list
import type { RegisterCommands } from "@shoal/cli/plugin";
import type { Command } from "commander";
import type { Deliveries } from "./deliveries.ts";

const columns = [
  ["ID", "id"],
  ["Browser", "browser_id"],
  ["Path", "path"],
  ["Bytes", "size_bytes"],
  ["Taken", "created_at"],
] as const;

/** Adds `shoal deliveries`. `shoal` calls it before every command, so the commands load their code when they run. */
export const registerCommands: RegisterCommands = (program, context) => {
  async function deliveriesFor(command: Command): Promise<Deliveries> {
    const { Deliveries } = await import("./deliveries.ts");
    return new Deliveries(await context.connect(command));
  }
  const { signal } = context;
  const group = program.command("deliveries").description("Files that were taken out of browser sessions.");

  context
    .addOutput(
      group
        .command("create")
        .description("Take a file out of a browser session.")
        .argument("<browser>", "id, or the name of a running session")
        .argument("<path>", "absolute path in the session")
        .option("--note <text>", "a note"),
    )
    .action(async (browserId: string, path: string, { note }: { readonly note?: string }, command: Command) => {
      const deliveries = await deliveriesFor(command);
      await context.print(
        command,
        await deliveries.create({ browser_id: browserId, path, ...(note !== undefined && { note }) }, { signal }),
      );
    });

  context
    .addOutput(
      group
        .command("list")
        .description("List deliveries, newest first.")
        .option("--browser <id>", "only those of one browser session"),
    )
    .action(async ({ browser }: { readonly browser?: string }, command: Command) => {
      const deliveries = await deliveriesFor(command);
      const { items } = await deliveries.list(
        { limit: 100, ...(browser !== undefined && { browser_id: browser }) },
        { signal },
      );
      await context.print(command, items, columns);
    });

  group
    .command("read")
    .description("Write the file of a delivery to standard output.")
    .argument("<id>")
    .action(async (id: string, _flags: unknown, command: Command) => {
      const deliveries = await deliveriesFor(command);
      const { stream } = await deliveries.read(id, { signal });
      for await (const chunk of stream)
        if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once("drain", resolve));
    });
};
