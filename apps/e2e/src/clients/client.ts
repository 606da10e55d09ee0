import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A foreign program or library that uses the service, as the tests run it. */
export interface Client {
  readonly name: string;
  readonly language: "Node.js" | "Python" | "Java" | "any";
  /** As the tests pin them. */
  readonly versions: readonly string[];
  /** What a user changes, in Markdown. */
  readonly change: string;
  /** Tests that must pass, by file: titles, or the beginning of titles. Without tests, `limits` says why. */
  readonly tests: Readonly<Record<string, readonly string[]>>;
  /** What the tests do with it. */
  readonly flow?: string;
  /** What does not work, and why. */
  readonly limits?: string;
  /** The tests prove that the service refuses it; `limits` has the reason. */
  readonly isRefused?: true;
  /**
   * Connects to a running session, or says how the client gets its own. `SERVICE_URL` and `SOCKET_URL` become the addresses of
   * the service, `SESSION_ID` that of the session. The key is in the variable SHOAL_API_KEY.
   */
  readonly code?: string;
}

/** A protocol of the service, and the clients that speak it. */
export interface Door {
  readonly name: string;
  /** Page of the guide. */
  readonly page: string;
  /** Value of `--dialects`, if it is off by default. */
  readonly dialect?: string;
  readonly clients: readonly Client[];
}

const root = join(import.meta.dirname, "../../");
const linesOf = (file: string) =>
  readFileSync(join(root, file), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Readonly<
  Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>
>;

/** The pinned version of a dependency of this package, which may be an alias. */
export function npm(name: string): string {
  const wanted = manifest.dependencies[name] ?? manifest.devDependencies[name];
  const version = /^(?:npm:@?[^@]+@)?(\d+\.\d+\.\d+)$/.exec(wanted ?? "")?.[1];
  if (version === undefined) throw new Error(`apps/e2e/package.json does not pin ${name}.`);
  return version;
}

const pinned = new Map(linesOf("python-packages.txt").map((line) => line.split("==") as [string, string]));

/** The pinned version of a package of Python. */
export function pip(name: string): string {
  const version = pinned.get(name);
  if (version === undefined) throw new Error(`apps/e2e/python-packages.txt does not pin ${name}.`);
  return version;
}

const pom = readFileSync(join(root, "java-packages/pom.xml"), "utf8");

/** The pinned version of Selenium for Java. */
export function seleniumOfJava(): string {
  const version = /<selenium\.version>([\d.]+)</.exec(pom)?.[1];
  if (version === undefined) throw new Error("apps/e2e/java-packages/pom.xml does not pin Selenium.");
  return version;
}

export const earlierKernels = linesOf("earlier-kernel-versions.txt");

const address = "SOCKET_URL/?sessionId=SESSION_ID&token=";
/** The address of a session for clients of CDP, as an expression of each language. */
export const addressIn = {
  script: `\`${address}\${process.env.SHOAL_API_KEY}\``,
  python: `"${address}" + os.environ["SHOAL_API_KEY"]`,
  shell: `"${address}$SHOAL_API_KEY"`,
};
