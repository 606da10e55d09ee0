/**
 * System calls that no browser, shell or program of a session needs, and through which kernels have been attacked or that reach beyond a box: keys of the
 * host's user, mounts in a user namespace, tracing of the kernel, clocks, modules. Numbers on x64 and arm64, from the kernel's tables.
 */
const refused: Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>> = {
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

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const answer = 0x06;
const allow = 0x7fff_0000;
/** The call fails with "Operation not permitted". */
const refuse = 0x0005_0001;
/** The call fails with "Function not implemented". */
const unknown = 0x0005_0026;
const offsetOfNumber = 0;
const offsetOfArchitecture = 4;
/** From here on, numbers are those of x32, a second way to every call of x64. */
const firstX32 = 0x4000_0000;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

/**
 * A filter for `bwrap --seccomp`: a program for the kernel's classic BPF machine. `undefined` on processors whose numbers are not known here.
 *
 * @see {@link https://docs.kernel.org/userspace-api/seccomp_filter.html | Seccomp BPF}
 */
export function systemCallFilter(processor: NodeJS.Architecture): Buffer | undefined {
  if (processor !== "x64" && processor !== "arm64") return undefined;
  const architecture = processor === "x64" ? 0xc000_003e : 0xc000_00b7;
  const numbers = Object.values(refused).flatMap(([x64, arm64]) => (processor === "x64" ? x64 : arm64) ?? []);
  const program: readonly Instruction[] = [
    [load, 0, 0, offsetOfArchitecture],
    // Calls of another architecture, 32-bit ones on x64, have other numbers.
    [jumpIfEqual, 1, 0, architecture],
    [answer, 0, 0, unknown],
    [load, 0, 0, offsetOfNumber],
    [jumpIfAtLeast, 0, 1, firstX32],
    [answer, 0, 0, unknown],
    ...numbers.map((number, index): Instruction => [jumpIfEqual, numbers.length - index, 0, number]),
    [answer, 0, 0, allow],
    [answer, 0, 0, refuse],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
