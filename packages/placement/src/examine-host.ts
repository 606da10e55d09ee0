import { errorOf } from "@shoal/primitives";
import { type FoundChromium, findChromium, locateFullChromium } from "./chromium/find-chromium.ts";
import { examineFonts, type FontReport } from "./host/fonts.ts";
import { findFreezers } from "./host/freezer.ts";
import { findMemoryGroups, type MemoryGroups } from "./host/memory-groups.ts";
import { bubblewrapVersion, canTrustAuthorities, findTool, runsAsRoot } from "./host/tools.ts";
import type { PlacementKind } from "./interface/placement.ts";
import type { PlacementLog } from "./interface/placement-log.ts";
import { processSandboxWorks } from "./process/support.ts";
import { maxProcesses } from "./sandbox/command.ts";
import { sharedMemoryBytes } from "./sandbox/launcher.ts";
import { examineForks } from "./sandbox/forkable/examine-forks.ts";
import { examineSandbox, type SandboxSupport } from "./sandbox/support.ts";

export interface HostFinding {
  readonly name:
    | "chromium"
    | "windows"
    | "fonts"
    | "authorities"
    | "bubblewrap"
    | "user_namespaces"
    | "inner_sandbox"
    | "limits"
    | "sleep"
    | "forks"
    | "user";
  /** `missing`: sessions cannot run without it. */
  readonly state: "ok" | "warning" | "missing";
  readonly detail: string;
  readonly advice?: string;
}

export interface HostReport {
  readonly chromium?: FoundChromium;
  readonly bubblewrap?: { readonly path: string; readonly version: string };
  readonly placement: PlacementKind;
  readonly userNamespaces: boolean;
  readonly innerSandbox: boolean;
  readonly limits: readonly string[];
  readonly findings: readonly HostFinding[];
}

const ignore = () => undefined;
const silent: PlacementLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

interface ExamineOptions {
  readonly chromium?: string;
  /** The setting. The findings are about this placement, `placement` of the report is the best of this machine. */
  readonly placement?: "auto" | "process" | "sandbox";
}

/** Starts the browser for its version, and an empty box. Takes about 0.1 s. Never rejects. */
export async function examineHost({ chromium: path, placement = "auto" }: ExamineOptions = {}): Promise<HostReport> {
  const named = path === undefined ? {} : { executable: path };
  const [browser, possible] = await Promise.all([findChromium(named).catch(errorOf), examineSandbox()]);
  const sandbox = placement === "process" && possible.works ? unused(possible) : possible;
  const chromium = browser instanceof Error ? undefined : browser;
  const bubblewrap = sandbox.tools && {
    path: sandbox.tools.bwrap,
    version: await bubblewrapVersion(sandbox.tools.bwrap),
  };
  const innerSandbox = sandbox.works
    ? sandbox.nestedUsers
    : chromium !== undefined && (await processSandboxWorks(chromium.executable));
  const limits = limitsOf(sandbox);
  const groups = sandbox.works ? await findMemoryGroups(undefined, silent) : undefined;
  return {
    ...(chromium && { chromium }),
    ...(bubblewrap && { bubblewrap }),
    placement: possible.works ? "sandbox" : "process",
    userNamespaces: sandbox.works ? sandbox.nestedUsers : innerSandbox && !runsAsRoot(),
    innerSandbox,
    limits,
    findings: [
      chromiumFinding(browser),
      await windowsFinding(chromium),
      fontsFinding(await examineFonts()),
      await authoritiesFinding(),
      bubblewrapFinding(sandbox, { version: bubblewrap?.version ?? "", isRequired: placement === "sandbox" }),
      ...(sandbox.works ? [userNamespacesFinding(sandbox.nestedUsers)] : []),
      innerSandboxFinding(innerSandbox, sandbox),
      limitsFinding(limits, sandbox, groups !== undefined),
      await sleepFinding(sandbox, groups),
      await forksFinding(sandbox, groups, chromium),
      userFinding(sandbox),
    ],
  };
}

function chromiumFinding(browser: FoundChromium | Error | undefined): HostFinding {
  if (browser instanceof Error)
    return { name: "chromium", state: "missing", detail: "The browser does not work.", advice: browser.message };
  if (browser === undefined)
    return {
      name: "chromium",
      state: "missing",
      detail: "No Chromium was found.",
      advice:
        "Install one (apt-get install chromium-headless-shell), or download one: npx @puppeteer/browsers install chrome-headless-shell@stable.",
    };
  const words = browser.kind === "headless_shell" ? "headless shell" : "full browser";
  return {
    name: "chromium",
    state: "ok",
    detail: `${browser.executable}, ${words} ${browser.version}, ${browser.source}.`,
    ...(browser.kind === "chrome" && {
      advice:
        "A headless shell starts three times as fast and uses a quarter of the memory: apt-get install chromium-headless-shell, or npx @puppeteer/browsers install chrome-headless-shell@stable.",
    }),
  };
}

function fontsFinding(report: FontReport | undefined): HostFinding {
  if (report === undefined)
    return {
      name: "fonts",
      state: "warning",
      detail: "The fonts of this machine are unknown: fc-list is missing.",
      advice: "apt-get install fontconfig",
    };
  const { missing, packages } = report;
  if (missing.length === 0)
    return { name: "fonts", state: "ok", detail: "Pictures and PDFs of pages show the scripts of the world." };
  return {
    name: "fonts",
    state: "warning",
    detail: `Pictures, PDFs, recordings and live views show empty boxes for ${missing.join(", ")}.`,
    advice: `apt-get install ${packages.join(" ")}`,
  };
}

async function windowsFinding(chromium: FoundChromium | undefined): Promise<HostFinding> {
  const [full, xvfb, ffmpeg] = await Promise.all([locateFullChromium(), findTool("Xvfb"), findTool("ffmpeg")]);
  const missing = [
    ...(full === undefined && chromium?.kind !== "chrome" ? ["chromium"] : []),
    ...(xvfb === undefined ? ["xvfb"] : []),
  ];
  if (missing.length > 0)
    return {
      name: "windows",
      state: "warning",
      detail: "Sessions with a window (headless: false) are refused; headless sessions work.",
      advice: `apt-get install ${missing.join(" ")}`,
    };
  return ffmpeg === undefined
    ? {
        name: "windows",
        state: "ok",
        detail: "Sessions may have a window (headless: false); their recordings show only the page.",
        advice: "To record the whole screen, install ffmpeg: apt-get install ffmpeg.",
      }
    : {
        name: "windows",
        state: "ok",
        detail: "Sessions may have a window (headless: false) and record the whole screen.",
      };
}

async function authoritiesFinding(): Promise<HostFinding> {
  if (await canTrustAuthorities())
    return {
      name: "authorities",
      state: "ok",
      detail: "Sessions can use a proxy that decrypts TLS with its own certificate authority (config.ca_bundle).",
    };
  return {
    name: "authorities",
    state: "ok",
    detail: "Sessions refuse proxies with their own certificate authority (config.ca_bundle).",
    ...(process.platform === "linux" && {
      advice: "To support them, install certutil: apt-get install libnss3-tools.",
    }),
  };
}

function unused({ tools }: SandboxSupport): SandboxSupport {
  return {
    ...{ works: false, tools, reason: "Bubblewrap works, but the setting placement is process." },
    advice: "Remove the setting to use the sandbox.",
  };
}

/** @param about.isRequired - by the setting, without which sessions would be plain processes. */
export function bubblewrapFinding(
  sandbox: SandboxSupport,
  about: { readonly isRequired: boolean; readonly version: string },
): HostFinding {
  if (sandbox.works)
    return {
      name: "bubblewrap",
      state: "ok",
      detail: `Each session runs in its own box (${sandbox.tools.bwrap} ${about.version}).`,
    };
  return {
    name: "bubblewrap",
    state: about.isRequired ? "missing" : "warning",
    detail: about.isRequired
      ? `${sandbox.reason} The sandbox placement needs it.`
      : `${sandbox.reason} Sessions would run as plain processes, without isolation.`,
    advice: sandbox.advice,
  };
}

function userNamespacesFinding(areAllowed: boolean): HostFinding {
  if (areAllowed)
    return { name: "user_namespaces", state: "ok", detail: "Processes in a box may create user namespaces." };
  return {
    name: "user_namespaces",
    state: "warning",
    detail: "Processes in a box may not create user namespaces.",
    advice:
      "Allow them, for example with sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, so that Chromium keeps its inner sandbox.",
  };
}

function innerSandboxFinding(works: boolean, sandbox: SandboxSupport): HostFinding {
  if (works) return { name: "inner_sandbox", state: "ok", detail: "Chromium keeps its own sandbox around each page." };
  return {
    name: "inner_sandbox",
    state: "warning",
    detail: "Chromium runs with --no-sandbox.",
    advice: sandbox.works
      ? "The box still isolates each session; see user namespaces."
      : "Run Shoal as a plain user, or with bubblewrap.",
  };
}

function limitsOf(sandbox: SandboxSupport): readonly string[] {
  if (!sandbox.works) return [];
  const sharedMemory = `at most ${sharedMemoryBytes / 2 ** 20} MB of shared memory per session`;
  if (sandbox.tools.prlimit === undefined) return [sharedMemory];
  return [sharedMemory, `at most ${maxProcesses} processes and threads per session`, "no core dumps"];
}

function limitsFinding(limits: readonly string[], sandbox: SandboxSupport, limitsMemory: boolean): HostFinding {
  if (limits.length <= 1)
    return {
      name: "limits",
      state: "warning",
      detail: "The number of processes of a session is not limited.",
      advice: sandbox.works ? "Install util-linux for its prlimit." : "See bubblewrap.",
    };
  const memory = limitsMemory
    ? "Control groups limit memory."
    : "Memory is not limited: the service may not create control groups, unless it runs as root or as a systemd service with Delegate=yes.";
  return { name: "limits", state: "ok", detail: `In force: ${limits.join(", ")}. ${memory}` };
}

async function sleepFinding(sandbox: SandboxSupport, groups: MemoryGroups | undefined): Promise<HostFinding> {
  const freezers = groups && (await findFreezers(groups, silent));
  if (freezers === undefined)
    return {
      name: "sleep",
      state: "ok",
      detail: "Idle sessions cannot sleep (sleep_after_seconds): the service may not freeze processes.",
      advice: sandbox.works
        ? "Run it as root, or as a systemd service with Delegate=yes."
        : "Only sessions in a sandbox can sleep; see bubblewrap.",
    };
  return freezers.pagesOut
    ? {
        name: "sleep",
        state: "ok",
        detail: "Idle sessions can sleep (sleep_after_seconds); their memory then moves to swap.",
      }
    : {
        name: "sleep",
        state: "ok",
        detail:
          "Idle sessions can sleep (sleep_after_seconds); they keep their memory, because the machine has no swap.",
        advice: "Add swap or zram, so that sleeping sessions free memory.",
      };
}

async function forksFinding(
  sandbox: SandboxSupport,
  groups: MemoryGroups | undefined,
  chromium: FoundChromium | undefined,
): Promise<HostFinding> {
  const reason = sandbox.works
    ? await examineForks({ chromium, support: sandbox, hasMemoryGroups: groups !== undefined })
    : "Exact forks need the sandbox; see bubblewrap.";
  if (reason === undefined)
    return { name: "forks", state: "ok", detail: "Sessions with forkable: true can be forked exactly." };
  return {
    name: "forks",
    state: "ok",
    detail: "Forks of sessions are restored from saved state, not exact copies (forkable: true).",
    advice: reason,
  };
}

function userFinding(sandbox: SandboxSupport): HostFinding {
  if (!runsAsRoot()) return { name: "user", state: "ok", detail: "Shoal runs as a plain user." };
  if (sandbox.works)
    return {
      name: "user",
      state: "ok",
      detail: "Shoal runs as root, and each box as an unused user, which exact forks of a session share.",
    };
  return {
    name: "user",
    state: "warning",
    detail: "Shoal runs as root, and so would sessions.",
    advice: "Run it as a plain user.",
  };
}
