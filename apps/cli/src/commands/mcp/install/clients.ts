import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../../../core/errors.ts";
import { homeFolder } from "../../../core/home-folder.ts";
import type { ClientName } from "../mcp-flags.ts";

/** The command that a client starts. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Client {
  readonly name: ClientName;
  readonly title: string;
  /** The configuration file of the user. */
  readonly file: string;
  /** It exists if the client is installed. */
  readonly sign: string;
  readonly format: "json" | "toml";
  /** The key of the table of servers. */
  readonly table: string;
  readonly entry: (command: ServerCommand) => Readonly<Record<string, unknown>>;
}

const plain = ({ args, command }: ServerCommand) => ({ command, args });
const typed = (command: ServerCommand) => ({ type: "stdio", ...plain(command) });

/** @see the documentation of each client about MCP servers of a user. */
export function clients(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): readonly Client[] {
  const home = homeFolder(env);
  const config = given(env.XDG_CONFIG_HOME) ?? join(home, ".config");
  const roaming = given(env.APPDATA) ?? join(home, "AppData", "Roaming");
  const applications =
    platform === "darwin" ? join(home, "Library", "Application Support") : platform === "win32" ? roaming : config;
  const codex = given(env.CODEX_HOME) ?? join(home, ".codex");
  const claude = given(env.CLAUDE_CONFIG_DIR);
  const json = (
    name: ClientName,
    title: string,
    file: string,
    more: Partial<Pick<Client, "entry" | "sign" | "table">> = {},
  ): Client => ({
    name,
    title,
    file,
    sign: dirname(file),
    format: "json",
    table: "mcpServers",
    entry: plain,
    ...more,
  });
  return [
    json("claude-code", "Claude Code", join(claude ?? home, ".claude.json"), {
      sign: claude ?? join(home, ".claude"),
      entry: typed,
    }),
    json("claude-desktop", "Claude Desktop", join(applications, "Claude", "claude_desktop_config.json")),
    {
      name: "codex",
      title: "Codex",
      file: join(codex, "config.toml"),
      sign: codex,
      format: "toml",
      table: "mcp_servers",
      entry: plain,
    },
    json("cursor", "Cursor", join(home, ".cursor", "mcp.json")),
    json("gemini", "Gemini CLI", join(home, ".gemini", "settings.json")),
    json("vscode", "VS Code", join(applications, "Code", "User", "mcp.json"), { table: "servers", entry: typed }),
    json("windsurf", "Windsurf", join(home, ".codeium", "windsurf", "mcp_config.json")),
    json(
      "zed",
      "Zed",
      join(platform === "win32" ? roaming : config, platform === "win32" ? "Zed" : "zed", "settings.json"),
      {
        table: "context_servers",
      },
    ),
  ];
}

/** Returns the named clients, or without names those on this machine. @throws {UsageError} if a name is unknown, or none is found. */
export function selectClients<C extends Pick<Client, "name" | "sign">>(
  known: readonly C[],
  names: readonly string[] | undefined,
  kind: string,
): readonly C[] {
  const choices = known.map(({ name }) => name).join(", ");
  if (names === undefined) {
    const found = known.filter(({ sign }) => existsSync(sign));
    if (found.length === 0) throw new UsageError(`No known ${kind} was found. Choose one with --client: ${choices}.`);
    return found;
  }
  return names.map((name) => {
    const client = known.find((each) => each.name === name);
    if (client === undefined) throw new UsageError(`--client must be one of ${choices}.`);
    return client;
  });
}

function given(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}
