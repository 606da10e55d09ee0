import {
  levels,
  namespaces,
  packetFilterOptions,
  refusedCalls,
  setSignalCommand,
  signalCalls,
  stopSignal,
  unknownCalls,
} from "./system-call-filter.ts";

interface Argument {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_NE" | "SCMP_CMP_GE" | "SCMP_CMP_GT" | "SCMP_CMP_MASKED_EQ";
}

/** The kernel uses only the low 32 bits of these arguments, and `SCMP_CMP_EQ` compares 64. */
const lowWord = 0xffff_ffff;
const equals = (index: number, value: number): Argument => ({
  index,
  value: lowWord,
  valueTwo: value,
  op: "SCMP_CMP_MASKED_EQ",
});
const hasFlag = (flag: number): Argument => ({ index: 0, value: flag, valueTwo: flag, op: "SCMP_CMP_MASKED_EQ" });

function refuse(names: readonly string[], errnoRet: number, args?: readonly Argument[]): object {
  return { names, action: "SCMP_ACT_ERRNO", errnoRet, ...(args && { args }) };
}

const notPermitted = 1;
const unknownCall = 38;
const unknownProtocol = 93;
const unknownFamily = 97;
const unixFamily = 1;
const netlinkFamily = 16;
/** All but Unix sockets (1), IPv4 (2), IPv6 (10) and netlink (16). */
const otherFamilies = [0, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15];

/**
 * The rules of the sandbox's filter as a profile for container engines. Programs without a browser need no namespaces. The rules cannot refuse calls that are newer than
 * their library.
 */
export function seccompProfile({ allowsNamespaces }: { readonly allowsNamespaces: boolean }): string {
  const { ipc, uts, cgroup, mount, time, pid, network, user } = namespaces;
  return JSON.stringify({
    defaultAction: "SCMP_ACT_ALLOW",
    syscalls: [
      refuse(Object.keys(refusedCalls), notPermitted),
      refuse(Object.keys(unknownCalls), unknownCall),
      // The others need a user namespace.
      ...(allowsNamespaces ? [] : [user]).map((flag) => refuse(["clone", "unshare"], notPermitted, [hasFlag(flag)])),
      ...[mount, cgroup, uts, ipc].map((flag) => refuse(["clone", "unshare"], notPermitted, [hasFlag(flag)])),
      ...[time, pid, network].map((flag) => refuse(["unshare"], notPermitted, [hasFlag(flag)])),
      ...Object.entries(signalCalls).map(([name, { index }]) =>
        refuse([name], notPermitted, [equals(index, stopSignal)]),
      ),
      refuse(["fcntl"], notPermitted, [equals(1, setSignalCommand), equals(2, stopSignal)]),
      ...otherFamilies.map((family) => refuse(["socket"], unknownFamily, [equals(0, family)])),
      refuse(["socket"], unknownFamily, [{ index: 0, value: netlinkFamily, op: "SCMP_CMP_GT" }]),
      refuse(["socket"], unknownProtocol, [equals(0, netlinkFamily), { index: 2, value: 0, op: "SCMP_CMP_NE" }]),
      refuse(["socketpair"], unknownFamily, [{ index: 0, value: unixFamily, op: "SCMP_CMP_NE" }]),
      refuse(["setsockopt"], notPermitted, [
        equals(1, levels.ipv4),
        { index: 2, value: packetFilterOptions.first, op: "SCMP_CMP_GE" },
      ]),
      ...Object.values(packetFilterOptions).map((option) =>
        refuse(["setsockopt"], notPermitted, [equals(1, levels.ipv6), equals(2, option)]),
      ),
    ],
  });
}
