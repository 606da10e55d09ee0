import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readIfPresent } from "../../config/data-dir.ts";
import { createId } from "@shoal/primitives";
import type { Log } from "../../log/log.ts";
import type { Secrets } from "../../storage/secrets.ts";

/** The hash covers all earlier entries. */
export interface AuditHead {
  readonly sequence: number;
  /** Hex. */
  readonly hash: string;
}

/** Remembers, outside the database, the newest entry that this server has seen. */
export interface HeadWitness {
  /** `undefined` before the first entry; `unreadable` when the file is damaged or sealed with another secret. */
  readonly head: AuditHead | undefined | "unreadable";
  /** A failure is logged; the earlier head stays. */
  keep(head: AuditHead): Promise<void>;
}

const use = "audit head";
const pattern = /^((\d{1,15}):([0-9a-f]{64}))\.([\w-]{43})\n?$/;

export function headPath(dataDir: string): string {
  return join(dataDir, "audit-head");
}

export function openHeadWitness(
  dataDir: string,
  secrets: Pick<Secrets, "sign" | "hasSignedStored">,
  log: Log,
): HeadWitness {
  const path = headPath(dataDir);
  let head = parse(readIfPresent(path), secrets);
  return {
    get head() {
      return head;
    },
    async keep(next) {
      const text = `${String(next.sequence)}:${next.hash}`;
      try {
        await replaceFile(path, `${text}.${secrets.sign(use, text)}\n`);
        head = next;
      } catch (error) {
        log.error({ err: error, path }, "the head of the audit log could not be saved");
      }
    },
  };
}

function parse(content: string | undefined, secrets: Pick<Secrets, "hasSignedStored">): HeadWitness["head"] {
  if (content === undefined) return undefined;
  const [, text = "", sequence = "", hash = "", seal = ""] = pattern.exec(content) ?? [];
  return secrets.hasSignedStored(use, text, seal) ? { sequence: Number(sequence), hash } : "unreadable";
}

/** Atomic and durable. */
async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = join(dirname(path), `.${createId()}.tmp`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
