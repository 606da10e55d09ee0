import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import { authorityPath } from "../../system/authority-path.ts";
import { chromiumArguments } from "./arguments.ts";
import { type BrowserLaunch, firstLaunch } from "./launch.ts";
import { forbidFormHistory } from "./preferences.ts";

export interface SpawnedChromium {
  readonly process: ChildProcess;
  /** Resolves when the program could not be run. */
  readonly failed: Promise<Error>;
  readonly stderr: Readable;
  /** It exits when this stream ends. */
  readonly commands: Writable;
  readonly messages: Readable;
}

/** Longest `TMPDIR` with which Chromium's sockets fit into the 107 bytes of a Unix socket path. */
const maxTemporaryDirectoryBytes = 50;

/** Starts Chromium in a separate process group. @throws when its directories cannot be created. */
export function spawnChromium(
  config: InstanceConfig,
  proxyPort: number,
  launch: BrowserLaunch = firstLaunch(config),
): SpawnedChromium {
  const { SHOAL_INSTANCE: _, ...environment } = process.env;
  const home = join(config.root, config.home);
  const temporary = join(config.session_dir, "tmp");
  mkdirSync(join(home, "Downloads"), { recursive: true });
  mkdirSync(temporary, { recursive: true });
  if (launch.program.kind === "chrome")
    forbidFormHistory(join(config.session_dir, "profile"), { hasWindow: !launch.headless });
  const child = spawn(launch.program.executable, chromiumArguments(config, proxyPort, launch), {
    cwd: home,
    detached: process.platform !== "win32",
    env: {
      ...environment,
      HOME: home,
      XDG_CONFIG_HOME: join(config.session_dir, "config"),
      XDG_CACHE_HOME: join(config.session_dir, "cache"),
      ...(launch.timezone !== undefined && { TZ: launch.timezone }),
      // Linux takes the language of `Intl` from here, and of the window.
      LANGUAGE: launch.locale,
      ...(launch.display !== undefined && { DISPLAY: launch.display, XAUTHORITY: authorityPath(config.session_dir) }),
      DBUS_SESSION_BUS_ADDRESS: "disabled:",
      ...temporaryDirectory([temporary, dirname(config.listen_path ?? config.egress_path)]),
    },
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
  });
  const failed = new Promise<Error>((resolve) => child.once("error", resolve));
  const [, , stderr, commands, messages] = child.stdio;
  if (!isReadable(stderr) || !isWritable(commands) || !isReadable(messages))
    throw new Error("Chromium's pipes could not be created.");
  return { process: child, failed, stderr, commands, messages };
}

/**
 * Deleted with the session, even if Chromium is killed. A full Chromium without a place for its sockets exits at once.
 */
function temporaryDirectory(places: readonly string[]): { readonly TMPDIR?: string } {
  const short = places.find((place) => Buffer.byteLength(place) <= maxTemporaryDirectoryBytes);
  return short === undefined || process.platform === "win32" ? {} : { TMPDIR: short };
}

function isReadable(stream: Readable | Writable | null | undefined): stream is Readable {
  return stream != null && "read" in stream;
}

function isWritable(stream: Readable | Writable | null | undefined): stream is Writable {
  return stream != null && "write" in stream;
}
