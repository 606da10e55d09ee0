import {
  encodeProgram,
  type Instruction,
  loadWord,
  maskWith,
  respond,
  unlessEqual,
  whenAtLeast,
  whenEqual,
} from "./bpf-program.ts";

type CallNumbers = readonly [x64: number | undefined, arm64: number | undefined];

/** Calls that attacks on kernels have used, or that affect the host: its keys, mounts, tracing, clocks, modules. */
export const refusedCalls: Readonly<Record<string, CallNumbers>> = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  pivot_root: [155, 41],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  uselib: [134, undefined],
  userfaultfd: [323, 282],
};

/**
 * Fail as on an older kernel, so that programs fall back. Flags of `clone3` are in memory, where filters cannot read.
 * `statmount` and `listmount` describe mounts of other namespaces.
 */
export const unknownCalls: Readonly<Record<string, CallNumbers>> = {
  clone3: [435, 435],
  listmount: [458, 458],
  statmount: [457, 457],
};
/** CRIU does not restore protection keys; a copied page would then crash. */
const unstorableCalls: Readonly<Record<string, CallNumbers>> = { pkey_alloc: [330, 289] };
/** Follows `removexattrat`. Later calls, and the x32 numbers (from 0x40000000), fail as on an older kernel. */
const firstUnreviewed = 467;

const allow = 0x7fff_0000;
const failWith = (errorNumber: number): number => 0x0005_0000 | errorNumber;
const notPermitted = failWith(1);
const unknownCall = failWith(38);
const unknownProtocol = failWith(93);
const unknownFamily = failWith(97);

const offsetOfNumber = 0;
const offsetOfArchitecture = 4;
/** The kernel uses only the low 32 bits of these arguments. */
const loadArgument = (index: number): Instruction => loadWord(16 + 8 * index);

const families = { unix: 1, ipv4: 2, ipv6: 10, netlink: 16 } as const;
const socketTypes = { stream: 1, datagram: 2, mask: 0xf } as const;
const netlinkRoute = 0;
/** 0: the default protocol of the socket type. */
const internetProtocols = { usual: 0, tcp: 6, udp: 17 } as const;

/** Flags of `clone` and `unshare` that create namespaces. */
export const namespaces = {
  time: 0x80,
  mount: 0x2_0000,
  cgroup: 0x200_0000,
  uts: 0x400_0000,
  ipc: 0x800_0000,
  user: 0x1000_0000,
  pid: 0x2000_0000,
  network: 0x4000_0000,
} as const;
const allNamespaces = Object.values(namespaces).reduce((all, flag) => all | flag, 0);
/** In `clone`, the low byte is a signal, not a flag. */
const cloneNamespaces = allNamespaces & ~0xff;

export const levels = { ipv4: 0, ipv6: 41 } as const;
/** `setsockopt` replaces a namespace's packet filter with these. Later options of IPv6 are harmless. */
export const packetFilterOptions = { first: 64, lastOfIpv6: 65 } as const;

const internetSocketRules: readonly Instruction[] = [
  loadArgument(1),
  maskWith(socketTypes.mask),
  ...[socketTypes.stream, socketTypes.datagram].flatMap((type) =>
    whenEqual(type, [
      loadArgument(2),
      ...Object.values(internetProtocols).flatMap((protocol) => whenEqual(protocol, [respond(allow)])),
      respond(unknownProtocol),
    ]),
  ),
  respond(notPermitted),
];

interface InspectedCall {
  readonly numbers: CallNumbers;
  readonly rules: readonly Instruction[];
}

/** Filtered by argument. @see docs/decisions/sandbox.md */
const socketCalls: readonly InspectedCall[] = [
  {
    // socket
    numbers: [41, 198],
    rules: [
      loadArgument(0),
      ...whenEqual(families.unix, [respond(allow)]),
      ...whenEqual(families.netlink, [
        loadArgument(2),
        ...whenEqual(netlinkRoute, [respond(allow)]),
        respond(unknownProtocol),
      ]),
      ...whenEqual(families.ipv4, internetSocketRules),
      ...whenEqual(families.ipv6, internetSocketRules),
      respond(unknownFamily),
    ],
  },
  {
    // socketpair
    numbers: [53, 199],
    rules: [loadArgument(0), ...whenEqual(families.unix, [respond(allow)]), respond(unknownFamily)],
  },
  {
    // setsockopt
    numbers: [54, 208],
    rules: [
      loadArgument(1),
      ...whenEqual(levels.ipv4, [
        loadArgument(2),
        ...whenAtLeast(packetFilterOptions.first, [respond(notPermitted)]),
        respond(allow),
      ]),
      ...whenEqual(levels.ipv6, [
        loadArgument(2),
        ...whenEqual(packetFilterOptions.first, [respond(notPermitted)]),
        ...whenEqual(packetFilterOptions.lastOfIpv6, [respond(notPermitted)]),
        respond(allow),
      ]),
      respond(allow),
    ],
  },
];

/** Cannot be ignored: code in a box could stop its instance, which then answers nothing and never ends. */
export const stopSignal = 19;
/** `fcntl` chooses the signal that reports activity of a descriptor to any process. */
export const setSignalCommand = 10;

/** Calls that send a signal, with the index of its number. */
export const signalCalls: Readonly<Record<string, { readonly numbers: CallNumbers; readonly index: number }>> = {
  kill: { numbers: [62, 129], index: 1 },
  tkill: { numbers: [200, 130], index: 1 },
  tgkill: { numbers: [234, 131], index: 2 },
  rt_sigqueueinfo: { numbers: [129, 138], index: 1 },
  rt_tgsigqueueinfo: { numbers: [297, 240], index: 2 },
  pidfd_send_signal: { numbers: [424, 424], index: 1 },
};

const refuseStop = (index: number): readonly Instruction[] => [
  loadArgument(index),
  ...whenEqual(stopSignal, [respond(notPermitted)]),
  respond(allow),
];

const stoppingCalls: readonly InspectedCall[] = [
  ...Object.values(signalCalls).map(({ index, numbers }) => ({ numbers, rules: refuseStop(index) })),
  // fcntl
  {
    numbers: [72, 25],
    rules: [loadArgument(1), ...whenEqual(setSignalCommand, refuseStop(2)), respond(allow)],
  },
];

/** Allows the namespaces that Chromium's sandbox creates, or none. */
function namespaceCalls(allowed: boolean): readonly InspectedCall[] {
  const forClone = allowed
    ? [0, namespaces.user, namespaces.pid, namespaces.user | namespaces.pid | namespaces.network]
    : [0];
  const forUnshare = allowed ? [0, namespaces.user] : [0];
  const onlyThese = (mask: number, flags: readonly number[]): readonly Instruction[] => [
    loadArgument(0),
    maskWith(mask),
    ...flags.flatMap((each) => whenEqual(each, [respond(allow)])),
    respond(notPermitted),
  ];
  return [
    // clone
    { numbers: [56, 220], rules: onlyThese(cloneNamespaces, forClone) },
    // unshare
    { numbers: [272, 97], rules: onlyThese(allNamespaces, forUnshare) },
  ];
}

/** `undefined` for an unsupported processor. @see {@link https://docs.kernel.org/userspace-api/seccomp_filter.html} */
export function systemCallFilter(
  processor: NodeJS.Architecture,
  options: { readonly namespaces: boolean; readonly storable?: boolean },
): Buffer | undefined {
  if (processor !== "x64" && processor !== "arm64") return undefined;
  const architecture = processor === "x64" ? 0xc000_003e : 0xc000_00b7;
  const onCall = (numbers: CallNumbers, rules: readonly Instruction[]): readonly Instruction[] => {
    const number = numbers[processor === "x64" ? 0 : 1];
    return number === undefined ? [] : whenEqual(number, rules);
  };
  return encodeProgram([
    loadWord(offsetOfArchitecture),
    // Other architectures, such as 32-bit code on x64, use other numbers.
    ...unlessEqual(architecture, [respond(unknownCall)]),
    loadWord(offsetOfNumber),
    ...whenAtLeast(firstUnreviewed, [respond(unknownCall)]),
    ...[...socketCalls, ...stoppingCalls, ...namespaceCalls(options.namespaces)].flatMap(({ numbers, rules }) =>
      onCall(numbers, rules),
    ),
    ...Object.values({ ...unknownCalls, ...(options.storable === true && unstorableCalls) }).flatMap((numbers) =>
      onCall(numbers, [respond(unknownCall)]),
    ),
    ...Object.values(refusedCalls).flatMap((numbers) => onCall(numbers, [respond(notPermitted)])),
    respond(allow),
  ]);
}
