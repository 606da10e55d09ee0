import { hkdfSync, scrypt } from "node:crypto";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { messageOf } from "@shoal/primitives";
import type { Config } from "../../config/settings.ts";
import { StartError } from "../../config/start-error.ts";
import { decrypt, encrypt } from "./aes-gcm.ts";
import type { KeyManagement, KeyManagementModule } from "./key-management.ts";

export type MasterKeySettings = Pick<
  Config,
  | "master_key"
  | "master_key_module"
  | "master_key_passphrase"
  | "previous_master_key_passphrases"
  | "previous_secret_keys"
>;

/** The master keys of a server. A key's full id is `source:id`, for example `secret_key:4f9a…`. */
export interface MasterKeys {
  /** Wraps new data keys. */
  present(): { readonly id: string; readonly key: KeyManagement };
  /** Finds a present or previous key. @param id - full. */
  find(id: string): { readonly key: KeyManagement; readonly keyId: string } | undefined;
  close(): Promise<void>;
}

type Source = "secret_key" | "passphrase" | "module";

const derive = promisify<string, string, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);
/** 128 MiB and about half a second. */
const scryptCost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };
const boundToKey = "shoal data key";

function localKey(secret: string | Uint8Array): KeyManagement {
  const key = new Uint8Array(hkdfSync("sha256", secret, "shoal", "master key", 32));
  const keyId = Buffer.from(hkdfSync("sha256", key, "shoal", "master key id", 12)).toString("hex");
  return {
    keyId,
    wrap: (dataKey) => Promise.resolve(encrypt(key, dataKey, boundToKey)),
    unwrap(wrapped) {
      const dataKey = decrypt(key, wrapped, boundToKey);
      return dataKey === undefined
        ? Promise.reject(new Error("the wrapped key was changed"))
        : Promise.resolve(dataKey);
    },
  };
}

function isKeyManagement(value: unknown): value is KeyManagement {
  if (typeof value !== "object" || value === null) return false;
  const { keyId, unwrap, wrap } = value as Partial<KeyManagement>;
  return (
    typeof wrap === "function" &&
    typeof unwrap === "function" &&
    typeof keyId === "string" &&
    /^[\x21-\x7e]{1,200}$/.test(keyId)
  );
}

async function loadModule(path: string): Promise<KeyManagement> {
  const hint =
    "The module exports createKeyManagement(), which returns keyId (1 to 200 printable ASCII characters), wrap and unwrap.";
  let made: unknown;
  try {
    const { createKeyManagement } = (await import(pathToFileURL(path).href)) as Partial<KeyManagementModule>;
    made = await createKeyManagement?.();
  } catch (error) {
    throw new StartError(`master_key_module ${path} failed: ${messageOf(error)}.`, { hint, cause: error });
  }
  if (!isKeyManagement(made)) throw new StartError(`master_key_module ${path} exports no key management.`, { hint });
  return made;
}

/**
 * Derives and loads the master keys.
 * @param installation - salt of passphrases: unique to the database, and the same on all of its servers.
 * @throws {StartError} when the present key is not configured, or its module fails.
 */
export async function openMasterKeys(
  settings: MasterKeySettings,
  { serverSecret, installation }: { readonly serverSecret: string; readonly installation: string },
): Promise<MasterKeys> {
  const { master_key: source, master_key_module: path, master_key_passphrase: passphrase } = settings;
  if ((source === "passphrase" && passphrase === undefined) || (source === "module" && path === undefined))
    throw new StartError(`master_key is ${source}, but master_key_${source} is not set.`, {
      hint: `Set master_key_${source}, or remove master_key.`,
      exitCode: 2,
    });
  const known = new Map<string, KeyManagement>();
  const present = new Map<Source, KeyManagement>();
  const add = (of: Source, key: KeyManagement) => {
    known.set(`${of}:${key.keyId}`, key);
    if (!present.has(of)) present.set(of, key);
  };
  for (const secret of [serverSecret, ...(settings.previous_secret_keys ?? [])]) add("secret_key", localKey(secret));
  for (const text of [passphrase, ...(settings.previous_master_key_passphrases ?? [])])
    if (text !== undefined)
      add("passphrase", localKey(await derive(text.normalize("NFC"), `shoal ${installation}`, 32, scryptCost)));
  const module = path === undefined ? undefined : await loadModule(path);
  if (module !== undefined) present.set("module", module);
  const first = present.get(source);
  if (first === undefined) throw new TypeError(`no key of ${source}`);
  return {
    present: () => ({ id: `${source}:${first.keyId}`, key: first }),
    find(id) {
      const keyId = id.slice(id.indexOf(":") + 1);
      const key = id.startsWith("module:") ? module : known.get(id);
      return key && { key, keyId };
    },
    close: async () => module?.close?.(),
  };
}
