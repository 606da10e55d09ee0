import { isIP } from "node:net";

/** An IP address as a number, IPv4-mapped IPv6 addresses as the IPv4 address that they mean. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** Addresses whose first `prefixLength` bits are those of `address`. */
export interface IpRange {
  readonly address: IpAddress;
  readonly prefixLength: number;
}

const mappedPrefix = 0xffffn;

/** Reads an address in its usual notation, `undefined` for anything else. A zone (`%eth0`) is left out: it changes nothing about what an address is. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const family = isIP(text);
  if (family === 4) return { family, value: parseV4(text) };
  if (family !== 6) return undefined;
  const value = parseV6(text.split("%", 1)[0] ?? text);
  return value >> 32n === mappedPrefix ? { family: 4, value: value & 0xffff_ffffn } : { family, value };
}

/** Reads `address/prefixLength`, or an address alone as the range that holds it alone. */
export function parseIpRange(text: string): IpRange | undefined {
  const [addressText = "", lengthText, ...rest] = text.split("/");
  const address = parseIpAddress(addressText);
  if (address === undefined || rest.length > 0) return undefined;
  const width = widthOf(address);
  if (lengthText === undefined) return { address, prefixLength: width };
  // A mapped address counts its prefix from the first of 128 bits.
  const prefixLength = Number(lengthText) - (addressText.includes(":") && address.family === 4 ? 96 : 0);
  if (!/^\d{1,3}$/.test(lengthText) || prefixLength < 0 || prefixLength > width) return undefined;
  return { address, prefixLength };
}

/** Whether `address` lies in `range`. */
export function isInRange(address: IpAddress, range: IpRange): boolean {
  if (address.family !== range.address.family) return false;
  const rest = BigInt(widthOf(address) - range.prefixLength);
  return address.value >> rest === range.address.value >> rest;
}

function widthOf(address: IpAddress): number {
  return address.family === 4 ? 32 : 128;
}

function parseV4(text: string): bigint {
  return text.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function parseV6(text: string): bigint {
  const lastColon = text.lastIndexOf(":");
  const tail = text.slice(lastColon + 1);
  const words = tail.includes(".") ? `${text.slice(0, lastColon + 1)}${hexWords(parseV4(tail))}` : text;
  const [head = "", end] = words.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = end === undefined || end === "" ? [] : end.split(":");
  const zeros = end === undefined ? [] : Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...zeros, ...after].reduce((value, word) => (value << 16n) | BigInt(`0x${word}`), 0n);
}

function hexWords(value: bigint): string {
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
