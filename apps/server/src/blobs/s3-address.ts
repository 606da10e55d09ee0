/** Where an S3-compatible store is, and what opens it. */
export interface S3Address {
  /** `https://host:port/bucket`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** What names of objects begin with: empty, or ending in a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKey: string | undefined;
  readonly secretKey: string | undefined;
}

/** Reads `s3://key:secret@host:port/bucket/prefix?region=…&tls=…`. @returns the address, or what is wrong with it: nothing of the address itself, which holds a secret. */
export function readS3Address(value: string): S3Address | string {
  const form = "must be s3://key:secret@host:port/bucket/prefix, with ?region= and &tls=false where needed";
  if (!/^s3:\/\//i.test(value) || !URL.canParse(value)) return form;
  const url = new URL(value);
  if (url.hash !== "") return "must have no #: write %23 for one within the secret";
  for (const [name, given] of url.searchParams) {
    if (name !== "region" && name !== "tls") return `has a parameter that is not known; known are region and tls`;
    if (name === "tls" && given !== "true" && given !== "false") return "has a parameter tls that is neither true nor false";
    if (name === "region" && !/^[\w-]{1,64}$/.test(given)) return "has a parameter region that is no name of a region, such as eu-central-1";
  }
  let parts: { readonly path: string[]; readonly accessKey: string; readonly secretKey: string };
  try {
    parts = {
      path: url.pathname
        .split("/")
        .filter((part) => part !== "")
        .map(decodeURIComponent),
      accessKey: decodeURIComponent(url.username),
      secretKey: decodeURIComponent(url.password),
    };
  } catch {
    return "has a % that is not followed by two hexadecimal digits: write %25 for one within the secret";
  }
  const [bucket, ...prefix] = parts.path;
  if (url.hostname === "" || bucket === undefined) return form;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    return "names a bucket that cannot be: 3 to 63 lower-case letters, digits, dots and hyphens";
  if (prefix.some((part) => !/^[\w-][\w.-]*$/.test(part))) return "has a prefix of other than letters, digits, dots, underscores and hyphens";
  if ((parts.accessKey === "") !== (parts.secretKey === "")) return "has a key without a secret, or a secret without a key";
  return {
    endpoint: `${url.searchParams.get("tls") === "false" ? "http" : "https"}://${url.host}/${bucket}`,
    bucket,
    prefix: prefix.map((part) => `${part}/`).join(""),
    region: url.searchParams.get("region") ?? "us-east-1",
    accessKey: parts.accessKey === "" ? undefined : parts.accessKey,
    secretKey: parts.secretKey === "" ? undefined : parts.secretKey,
  };
}

/** What is wrong with an address, if anything. */
export function s3AddressProblem(value: string): string | undefined {
  const read = readS3Address(value);
  return typeof read === "string" ? read : undefined;
}
