import { findChromium, type FoundChromium, locateFullChromium } from "./chromium.ts";
import { findMemoryGroups } from "./memory-groups.ts";
import type { PlacementKind, PlacementLog } from "./placement.ts";
import { processSandboxWorks } from "./process-support.ts";
import { sharedMemoryBytes } from "./box-launcher.ts";
import { maxProcesses } from "./sandbox-command.ts";
import { bubblewrapVersion, canTrustAuthorities, findTool } from "./sandbox-host.ts";
import { examineSandbox, runsAsRoot } from "./sandbox-support.ts";

/** One thing that was looked at. */
export interface HostFinding {
  readonly name: "chromium" | "windows" | "authorities" | "bubblewrap" | "user_namespaces" | "inner_sandbox" | "limits" | "user";
  /** `missing` where sessions cannot run without it. */
  readonly state: "ok" | "warning" | "missing";
  /** What is there, in one sentence. */
  readonly detail: string;
  /** What to do, in one line; absent where there is nothing to do. */
  readonly advice?: string;
}

/** What sessions on this host would get. */
export interface HostReport {
  /** The browser, absent when none was found or it does not start. */
  readonly chromium?: FoundChromium;
  readonly bubblewrap?: { readonly path: string; readonly version: string };
  /** What a placement of kind `auto` would be. */
  readonly placement: PlacementKind;
  /** Whether processes in a box, or of this user, may make user namespaces. */
  readonly userNamespaces: boolean;
  /** Whether Chromium keeps its own sandbox, around each page, inside. */
  readonly innerSandbox: boolean;
  /** Limits in force, in words. */
  readonly limits: readonly string[];
  readonly findings: readonly HostFinding[];
}

const nobody = () => undefined;
const silent: PlacementLog = { debug: nobody, info: nobody, warn: nobody, error: nobody };

/** Looks at this host by trying: starts the browser for its version, and an empty box. Takes about a tenth of a second. Never rejects. */
export async function examineHost(options: { readonly chromium?: string } = {}): Promise<HostReport> {
  const named = options.chromium === undefined ? {} : { executable: options.chromium };
  const [browser, sandbox] = await Promise.all([
    findChromium(named).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error)))),
    examineSandbox(),
  ]);
  const chromium = browser instanceof Error ? undefined : browser;
  const findings: HostFinding[] = [];

  if (browser instanceof Error) findings.push({ name: "chromium", state: "missing", detail: "The browser cannot be used.", advice: browser.message });
  else if (browser === undefined) {
    findings.push({
      name: "chromium",
      state: "missing",
      detail: "No Chromium was found.",
      advice: "Install one (apt-get install chromium-headless-shell), or fetch one: npx @puppeteer/browsers install chrome-headless-shell@stable.",
    });
  } else {
    const words = browser.kind === "headless_shell" ? "headless shell" : "full browser";
    const slower =
      browser.kind === "chrome"
        ? {
            advice:
              "A headless shell starts three times as fast in a quarter of the memory: apt-get install chromium-headless-shell, or npx @puppeteer/browsers install chrome-headless-shell@stable.",
          }
        : {};
    findings.push({ name: "chromium", state: "ok", detail: `${browser.executable}, ${words} ${browser.version}, ${browser.source}.`, ...slower });
  }

  const [full, xvfb, ffmpeg] = await Promise.all([locateFullChromium(), findTool("Xvfb"), findTool("ffmpeg")]);
  const missing = [...(full === undefined && chromium?.kind !== "chrome" ? ["chromium"] : []), ...(xvfb === undefined ? ["xvfb"] : [])];
  findings.push(
    missing.length === 0
      ? {
          name: "windows",
          state: "ok",
          detail: `Sessions may ask for a window (headless: false)${ffmpeg === undefined ? "; their recordings show the page" : " and record the whole screen"}.`,
          ...(ffmpeg === undefined && { advice: "With ffmpeg they show the whole screen: apt-get install ffmpeg." }),
        }
      : {
          name: "windows",
          state: "warning",
          detail: "Sessions with a window (headless: false) are refused; headless ones do without.",
          advice: `apt-get install ${missing.join(" ")}`,
        },
  );

  findings.push(
    (await canTrustAuthorities())
      ? { name: "authorities", state: "ok", detail: "Sessions trust the authority of a proxy that opens TLS, where it has one (config.ca_bundle)." }
      : {
          name: "authorities",
          state: "ok",
          detail: "Sessions refuse proxies with an authority of their own (config.ca_bundle).",
          ...(process.platform === "linux" && { advice: "They trust them where there is certutil: apt-get install libnss3-tools." }),
        },
  );

  const bubblewrap = sandbox.tools === undefined ? undefined : { path: sandbox.tools.bwrap, version: await bubblewrapVersion(sandbox.tools.bwrap) };
  if (sandbox.works)
    findings.push({
      name: "bubblewrap",
      state: "ok",
      detail: `Each session gets a box of its own (${sandbox.tools.bwrap} ${bubblewrap?.version ?? ""}).`,
    });
  else
    findings.push({
      name: "bubblewrap",
      state: "warning",
      detail: `${sandbox.reason} Sessions would run as plain processes, which isolates nothing.`,
      advice: sandbox.advice,
    });

  const innerSandbox = sandbox.works ? sandbox.nestedUsers : chromium !== undefined && (await processSandboxWorks(chromium.executable));
  const userNamespaces = sandbox.works ? sandbox.nestedUsers : innerSandbox && !runsAsRoot();
  if (sandbox.works) {
    findings.push(
      userNamespaces
        ? { name: "user_namespaces", state: "ok", detail: "Processes in a box may make user namespaces." }
        : {
            name: "user_namespaces",
            state: "warning",
            detail: "Processes in a box may not make user namespaces.",
            advice:
              "Allow them, for instance with sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, so that Chromium keeps its inner sandbox.",
          },
    );
  }
  findings.push(
    innerSandbox
      ? { name: "inner_sandbox", state: "ok", detail: "Chromium keeps its own sandbox around each page." }
      : {
          name: "inner_sandbox",
          state: "warning",
          detail: "Chromium runs with --no-sandbox.",
          advice: sandbox.works ? "The box holds all the same; see user namespaces." : "Run Shoal as a plain user, or with bubblewrap.",
        },
  );

  const groups = sandbox.works ? await findMemoryGroups(undefined, silent) : undefined;
  const memory =
    groups === undefined
      ? "Memory is not limited: the service may make no control groups here, unless it runs as root or as a service of systemd with Delegate=yes."
      : "Memory is limited too, by control groups.";
  const limits = sandbox.works
    ? [
        `at most ${sharedMemoryBytes / 2 ** 20} MB of shared memory a session`,
        ...(sandbox.tools.prlimit === undefined ? [] : [`at most ${maxProcesses} processes and threads a session`, "no core dumps"]),
      ]
    : [];
  findings.push(
    limits.length > 1
      ? { name: "limits", state: "ok", detail: `In force: ${limits.join(", ")}. ${memory}` }
      : {
          name: "limits",
          state: "warning",
          detail: "The number of a session's processes is not limited.",
          advice: sandbox.works ? "Install util-linux for its prlimit." : "See bubblewrap.",
        },
  );
  findings.push(
    runsAsRoot()
      ? {
          name: "user",
          state: sandbox.works ? "ok" : "warning",
          detail: sandbox.works ? "Shoal runs as root, and each box as a user that nobody else has." : "Shoal runs as root, and so would sessions.",
          ...(!sandbox.works && { advice: "Run it as a plain user." }),
        }
      : { name: "user", state: "ok", detail: "Shoal runs as a plain user." },
  );

  return {
    ...(chromium && { chromium }),
    ...(bubblewrap && { bubblewrap }),
    placement: sandbox.works ? "sandbox" : "process",
    userNamespaces,
    innerSandbox,
    limits,
    findings,
  };
}
