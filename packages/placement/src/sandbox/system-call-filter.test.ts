import type { Instance } from "../interface/placement.ts";
import { seccompProfile } from "./seccomp-profile.ts";
import { systemCallFilter } from "./system-call-filter.ts";
import { openPlacement, runInside } from "../testing/placements.ts";
import { familyOf } from "../testing/processes.ts";
import { describeWith } from "../testing/requirements.ts";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { eventuallyPasses } from "@shoal/testkit";
import { describe, expect, it } from "vitest";

const errors = { allowed: 0, notPermitted: 1, unknownCall: 38, unknownProtocol: 93, unknownFamily: 97 } as const;
type Outcome = keyof typeof errors;
type CallName =
  | "socket"
  | "socketpair"
  | "setsockopt"
  | "clone"
  | "unshare"
  | "clone3"
  | "statmount"
  | "listmount"
  | "openTreeAttr"
  | "mount"
  | "kill"
  | "tkill"
  | "tgkill"
  | "rt_sigqueueinfo"
  | "rt_tgsigqueueinfo"
  | "pidfd_send_signal"
  | "fcntl"
  | "getpid";

const numbers: Readonly<Record<"x64" | "arm64", Readonly<Record<CallName, number>>>> = {
  x64: {
    socket: 41,
    socketpair: 53,
    setsockopt: 54,
    clone: 56,
    unshare: 272,
    clone3: 435,
    statmount: 457,
    listmount: 458,
    openTreeAttr: 467,
    mount: 165,
    kill: 62,
    tkill: 200,
    tgkill: 234,
    rt_sigqueueinfo: 129,
    rt_tgsigqueueinfo: 297,
    pidfd_send_signal: 424,
    fcntl: 72,
    getpid: 39,
  },
  arm64: {
    socket: 198,
    socketpair: 199,
    setsockopt: 208,
    clone: 220,
    unshare: 97,
    clone3: 435,
    statmount: 457,
    listmount: 458,
    openTreeAttr: 467,
    mount: 40,
    kill: 129,
    tkill: 130,
    tgkill: 131,
    rt_sigqueueinfo: 138,
    rt_tgsigqueueinfo: 240,
    pidfd_send_signal: 424,
    fcntl: 25,
    getpid: 172,
  },
};

const [newMount, newUser, newPid, newNetwork] = [0x2_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] as const;
const chromiumSandbox = newUser | newPid | newNetwork;
const childSignal = 17;
const closeOnExec = 0o2_000_000;

const calls: readonly (readonly [what: string, call: CallName, args: readonly number[], outcome: Outcome])[] = [
  ["a Unix socket", "socket", [1, 1 | closeOnExec, 0], "allowed"],
  ["a TCP socket", "socket", [2, 1, 6], "allowed"],
  ["a UDP socket over IPv6", "socket", [10, 2 | closeOnExec, 0], "allowed"],
  ["a routing socket", "socket", [16, 3, 0], "allowed"],
  ["AF_VSOCK", "socket", [40, 1, 0], "unknownFamily"],
  ["AF_PACKET", "socket", [17, 3, 0], "unknownFamily"],
  ["AF_ALG", "socket", [38, 5, 0], "unknownFamily"],
  ["a raw socket", "socket", [2, 3, 1], "notPermitted"],
  ["a raw socket over IPv6", "socket", [10, 3 | closeOnExec, 58], "notPermitted"],
  ["multipath TCP", "socket", [2, 1, 262], "unknownProtocol"],
  ["netlink for the packet filter", "socket", [16, 3, 12], "unknownProtocol"],
  ["netlink for sockets", "socket", [16, 3, 4], "unknownProtocol"],
  ["a pair of Unix sockets", "socketpair", [1, 5, 0], "allowed"],
  ["a pair of TIPC sockets", "socketpair", [30, 1, 0], "unknownFamily"],
  ["a socket option", "setsockopt", [0, 1, 2], "allowed"],
  ["an option of IPv6 after those of the packet filter", "setsockopt", [0, 41, 66], "allowed"],
  ["IPT_SO_SET_REPLACE", "setsockopt", [0, 0, 64], "notPermitted"],
  ["IP6T_SO_SET_REPLACE", "setsockopt", [0, 41, 64], "notPermitted"],
  ["a process", "clone", [childSignal, 0], "allowed"],
  ["the namespaces of Chromium's sandbox", "clone", [chromiumSandbox | childSignal, 0], "allowed"],
  ["the process namespace of a renderer", "clone", [newPid | childSignal, 0], "allowed"],
  ["a network namespace alone", "clone", [newNetwork | childSignal, 0], "notPermitted"],
  ["a user and a network namespace", "clone", [newUser | newNetwork | childSignal, 0], "notPermitted"],
  ["a user and a mount namespace", "clone", [newUser | newMount | childSignal, 0], "notPermitted"],
  ["a user namespace", "unshare", [newUser], "allowed"],
  ["unshare of a network namespace", "unshare", [newNetwork], "notPermitted"],
  ["unshare of a user and a network namespace", "unshare", [newUser | newNetwork], "notPermitted"],
  ["unshare of a time namespace", "unshare", [0x80], "notPermitted"],
  ["clone3", "clone3", [0, 88], "unknownCall"],
  ["statmount", "statmount", [0, 0, 0, 0], "unknownCall"],
  ["listmount", "listmount", [0, 0, 0, 0], "unknownCall"],
  ["a call that no one has reviewed", "openTreeAttr", [0, 0, 0, 0, 0], "unknownCall"],
  ["mount", "mount", [0, 0, 0, 0, 0], "notPermitted"],
  ["SIGSTOP", "kill", [2, 19], "notPermitted"],
  ["SIGSTOP to all processes", "kill", [0xffff_ffff, 19], "notPermitted"],
  ["SIGSTOP to a thread", "tkill", [2, 19], "notPermitted"],
  ["SIGSTOP to a thread of a process", "tgkill", [2, 2, 19], "notPermitted"],
  ["SIGSTOP with a value", "rt_sigqueueinfo", [2, 19, 0], "notPermitted"],
  ["SIGSTOP with a value to a thread", "rt_tgsigqueueinfo", [2, 2, 19, 0], "notPermitted"],
  ["SIGSTOP by a descriptor", "pidfd_send_signal", [3, 19, 0, 0], "notPermitted"],
  ["SIGSTOP for activity of a descriptor", "fcntl", [3, 10, 19], "notPermitted"],
  ["a look for process 19", "kill", [19, 0], "allowed"],
  ["SIGIO for activity of a descriptor", "fcntl", [3, 10, 29], "allowed"],
  ["a lock of a file", "fcntl", [3, 6, 19], "allowed"],
  ["getpid", "getpid", [], "allowed"],
];

describe.each(["x64", "arm64"] as const)("the filter for system calls on %s", (processor) => {
  const filter = systemCallFilter(processor, { namespaces: true }) ?? Buffer.alloc(0);
  const architecture = processor === "x64" ? 0xc000_003e : 0xc000_00b7;

  it.each(calls)("answers %s: %s %j is %s", (_what, call, args, outcome) => {
    expect(runFilter(filter, { architecture, number: numbers[processor][call], args })).toBe(errors[outcome]);
    // The kernel drops the upper half of these arguments.
    expect(runFilter(filter, { architecture, number: numbers[processor][call], args, upperHalf: 1 })).toBe(
      errors[outcome],
    );
  });

  it("rejects all calls of other architectures and of x32", () => {
    expect(runFilter(filter, { architecture: 0x4000_0003, number: numbers[processor].getpid, args: [] })).toBe(
      errors.unknownCall,
    );
    expect(runFilter(filter, { architecture, number: 0x4000_0000 + numbers[processor].getpid, args: [] })).toBe(
      errors.unknownCall,
    );
  });
});

interface CallData {
  readonly architecture: number;
  readonly number: number;
  readonly args: readonly number[];
  readonly upperHalf?: number;
}

function runFilter(filter: Buffer, { architecture, number, args, upperHalf = 0 }: CallData): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, argument] of args.entries()) {
    data.writeUInt32LE(argument, 16 + 8 * index);
    data.writeUInt32LE(upperHalf, 20 + 8 * index);
  }
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [code, value] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)];
    const jump = (taken: boolean): number => 8 * filter.readUInt8(at + (taken ? 2 : 3));
    if (code === 0x06) return value === 0x7fff_0000 ? 0 : value & 0xffff;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x54) loaded = (loaded & value) >>> 0;
    else if (code === 0x15) at += jump(loaded === value);
    else if (code === 0x35) at += jump(loaded >= value);
    else throw new Error(`The filter has an instruction ${code.toString(16)}.`);
  }
  throw new Error("The filter has no end.");
}

describeWith(["linux", "chromium", "bubblewrap"], "system calls in a box", () => {
  it("are allowed or rejected as the filter specifies", async () => {
    const { placement } = await openPlacement({ kind: "sandbox", standIn: "fine" });
    const box = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
    // An allowed `clone` would create a process.
    const tried = calls.filter(([, call, , outcome]) => call !== "clone" || outcome !== "allowed");
    const program = tried
      .map(
        ([, call, args]) =>
          `print syscall(${[numbers[hostProcessor()][call], ...args].join(",")}) < 0 ? $!+0 : 0, "\\n";`,
      )
      .join("");
    const { stdout } = await runInside(box, `perl -e '${program}'`);
    const answers = stdout.trim().split("\n").map(Number);
    expect(answers).toHaveLength(tried.length);
    for (const [index, [what, call, , outcome]] of tried.entries()) {
      // The kernel may refuse the arguments of an allowed call.
      if (outcome !== "allowed" || call === "socket") expect([what, answers[index]]).toEqual([what, errors[outcome]]);
    }
  });

  it.each(["headless shell", "full browser"])("let a %s start with its own sandbox", async (kind) => {
    const { placement } = await openPlacement({ kind: "sandbox" });
    const instance: Instance = await placement.acquire({
      session_id: "s1",
      timeout_seconds: 3_600,
      ...(kind === "full browser" && { launch: { headless: true, stealth: true } }),
    });
    await eventuallyPasses(() => {
      const depths = familyOf(instance.pid)
        .filter(({ name }) => /^(?:chrom|headless)/.test(name))
        .flatMap(({ pid }) => namespaceDepth(pid));
      expect(Math.max(...depths)).toBeGreaterThan(Math.min(...depths));
    });
    const answer = await instance.request(
      { method: "POST", path: "/playwright/execute", headers: { "content-type": "application/json" } },
      JSON.stringify({ code: 'await page.goto("data:text/html,<title>drawn</title>"); return page.title();' }),
    );
    expect(JSON.parse(await text(answer))).toMatchObject({ success: true, result: "drawn" });
  });
});

/** Nothing if the process has ended. */
function namespaceDepth(pid: number): number[] {
  try {
    const [, pids] = /^NSpid:(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return pids === undefined ? [] : [pids.trim().split(/\s+/).length];
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ESRCH"].includes(String(error.code))) return [];
    throw error;
  }
}

function hostProcessor(): "x64" | "arm64" {
  return process.arch === "arm64" ? "arm64" : "x64";
}

it("compares only the half of an argument that the kernel uses in the profile for container engines", () => {
  expect(seccompProfile({ allowsNamespaces: true })).not.toContain("SCMP_CMP_EQ");
});

it("is published for engines on other machines", () => {
  const published = new URL("../../../../docs/service/session-seccomp.json", import.meta.url);
  expect(JSON.parse(readFileSync(published, "utf8"))).toEqual(JSON.parse(seccompProfile({ allowsNamespaces: true })));
});
