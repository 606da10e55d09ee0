import { boxEnvironment } from "../boxes/box-environment.ts";
import { homePath } from "../boxes/instance-files.ts";
import { stateFolder } from "../image/remote-config.ts";
import { maxProcesses } from "../sandbox/command.ts";
import { sharedMemoryBytes } from "../sandbox/launcher.ts";

export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly writable?: boolean;
}

export interface ContainerOptions {
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** After the image's own `tini`. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  /** In the form of the engine: a document, or a path. */
  readonly seccomp: string;
  /** For a program without a browser. */
  readonly program?: ProgramLimits;
}

export interface ProgramLimits {
  readonly folder: string;
  /** Further writable folders in memory. */
  readonly scratch: readonly string[];
  readonly maxProcesses: number;
  /** On another machine: folders for copies of files. A program of Shoal starts the one of the app. */
  readonly copies?: readonly string[];
}

/** Not the user of the service or of the image: the files of the service that a container sees belong to another user. */
export const containerUser = 64_987;

/** The kernel kills sessions before the service when memory runs out. */
const memoryScore = 200;
const mib = 2 ** 20;

export const inside = {
  sockets: "/run/shoal",
  listen: "/run/shoal-listen",
  state: stateFolder,
  program: "/opt/shoal-program",
  policies: "/etc/chromium/policies/managed",
  accounts: "/etc/passwd",
} as const;

const memoryFolder = "rw,exec,nosuid,nodev,mode=1777";
const memoryFolders = ["/tmp", homePath, inside.state];

const sessionScript = `read -r go && ulimit -c 0 && mkdir -p ${homePath}/Downloads && exec "$@"`;
/** Programs do not read their input, whose end ends the container of a killed server. */
const programScript =
  'read -r go && ulimit -c 0 && exec 3<&0 && { { cat <&3 >/dev/null; kill -9 -1; } & } && exec "$@" 3<&- </dev/null';
/** Next to the program, with their threads. */
const scriptProcesses = 4;
const hostProcesses = 32;

/** The body of `ContainerCreate`: no network, capabilities, privileges or writable image. */
export function containerSpec(options: ContainerOptions): object {
  const { diskBytes, image, labels, memoryBytes, mounts, program, seccomp } = options;
  const isHosted = program?.copies !== undefined;
  const inMemory = program === undefined ? memoryFolders : [...memoryFolders, ...program.scratch];
  const size = diskBytes === undefined ? "" : `,size=${String(Math.floor(diskBytes / mib))}m`;
  return {
    Image: image,
    Labels: labels,
    Hostname: "shoal",
    User: `${String(containerUser)}:${String(containerUser)}`,
    WorkingDir: program?.folder ?? homePath,
    Entrypoint: ["/usr/bin/tini", "--"],
    Cmd: [
      "/bin/sh",
      "-c",
      program === undefined || isHosted ? sessionScript : programScript,
      "shoal",
      ...options.command,
    ],
    Env: Object.entries({ ...boxEnvironment, ...options.env }).map(([name, value]) => `${name}=${value}`),
    // The end of the attached connection ends standard input, and so the instance of a killed server.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      NetworkMode: "none",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges", `seccomp=${seccomp}`],
      PidsLimit:
        program === undefined ? maxProcesses : program.maxProcesses + (isHosted ? hostProcesses : scriptProcesses),
      ...(memoryBytes !== undefined && { Memory: memoryBytes, MemorySwap: memoryBytes }),
      OomScoreAdj: memoryScore,
      ShmSize: sharedMemoryBytes,
      IpcMode: "private",
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" },
      Binds: mounts.map(({ from, to, writable = false }) => `${from}:${to}:${writable ? "rw" : "ro"}`),
      Tmpfs: {
        ...Object.fromEntries(inMemory.map((folder) => [folder, `${memoryFolder}${size}`])),
        ...Object.fromEntries((program?.copies ?? []).map((folder) => [folder, memoryFolder])),
        // In place of the image's volume on disk, which the service uses and sessions do not.
        "/var/lib/shoal": "rw,nosuid,nodev,noexec,size=64k",
      },
    },
  };
}
