import { createHash, createPublicKey, createVerify, type Verify } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";

export class CrxError extends Error {
  override readonly name = "CrxError";
}

const magic = "Cr24";
/** Magic, version, length of the header. */
const prologueBytes = 12;
const maxHeaderBytes = 2 ** 20;
const signatureContext = Buffer.from("CRX3 SignedData\0");

// Field numbers of Chromium's components/crx_file/crx3.proto.
const rsaProof = 2;
const ecdsaProof = 3;
const signedHeaderData = 10_000;
const proofKey = 1;
const proofSignature = 2;
const signedId = 1;

/** Yields the fields of a protocol buffer that has only byte fields. */
function bytesFields(message: Buffer): { readonly number: number; readonly value: Buffer }[] {
  const fields: { number: number; value: Buffer }[] = [];
  let at = 0;
  function varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = message[at];
      if (byte === undefined) break;
      at += 1;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new CrxError("its header is damaged");
  }
  while (at < message.length) {
    const tag = varint();
    if (tag % 8 !== 2) throw new CrxError("its header has a field of an unknown type");
    const length = varint();
    if (at + length > message.length) throw new CrxError("its header is damaged");
    fields.push({ number: Math.floor(tag / 8), value: message.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

function field(fields: readonly { readonly number: number; readonly value: Buffer }[], number: number): Buffer {
  const found = fields.find((each) => each.number === number)?.value;
  if (found === undefined) throw new CrxError("its header has an incomplete signature");
  return found;
}

/** The id of an extension is 32 letters from a to p. */
export function idOfHash(hash: Buffer): string {
  return hash
    .subarray(0, 16)
    .toString("hex")
    .replaceAll(/./g, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 16)));
}

async function readHeader(path: string): Promise<{ header: Buffer; offset: number }> {
  const file = await open(path, "r");
  try {
    const { buffer: prologue, bytesRead } = await file.read(Buffer.alloc(prologueBytes), 0, prologueBytes, 0);
    if (bytesRead < prologueBytes || prologue.toString("latin1", 0, 4) !== magic)
      throw new CrxError("it is not a CRX file");
    const version = prologue.readUInt32LE(4);
    if (version !== 3)
      throw new CrxError(`it is a CRX file of version ${String(version)}; only version 3 is supported`);
    const length = prologue.readUInt32LE(8);
    if (length > maxHeaderBytes) throw new CrxError("its header is too long");
    const { buffer: header, bytesRead: headerRead } = await file.read(Buffer.alloc(length), 0, length, prologueBytes);
    if (headerRead < length) throw new CrxError("it is cut off");
    return { header, offset: prologueBytes + length };
  } finally {
    await file.close();
  }
}

/**
 * Every signature must be valid, and one must be by the key that `id` (32 letters) is derived from.
 * @returns the offset of the ZIP archive in the file, in bytes. @throws {CrxError}
 */
export async function verifyCrx(path: string, id: string): Promise<number> {
  const { header, offset } = await readHeader(path);
  const fields = bytesFields(header);
  const signed = field(fields, signedHeaderData);
  if (idOfHash(field(bytesFields(signed), signedId)) !== id) throw new CrxError("it is of another extension");

  const signedLength = Buffer.alloc(4);
  signedLength.writeUInt32LE(signed.length);
  const proofs: { readonly key: Buffer; readonly signature: Buffer; readonly verify: Verify }[] = [];
  for (const { number, value } of fields) {
    if (number !== rsaProof && number !== ecdsaProof) continue;
    const parts = bytesFields(value);
    proofs.push({
      key: field(parts, proofKey),
      signature: field(parts, proofSignature),
      verify: createVerify("sha256").update(signatureContext).update(signedLength).update(signed),
    });
  }
  if (!proofs.some(({ key }) => idOfHash(createHash("sha256").update(key).digest()) === id))
    throw new CrxError("it is not signed with the key of the extension");
  for await (const chunk of createReadStream(path, { start: offset }))
    for (const { verify } of proofs) verify.update(chunk as Buffer);
  for (const { key, signature, verify } of proofs) {
    if (!holds(verify, key, signature)) throw new CrxError("a signature is invalid: the file was changed in transit");
  }
  return offset;
}

function holds(verify: Verify, key: Buffer, signature: Buffer): boolean {
  try {
    return verify.verify(createPublicKey({ key, format: "der", type: "spki" }), signature);
  } catch {
    return false;
  }
}
