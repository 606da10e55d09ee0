export interface S3Address {
  readonly endpoint: string;
  readonly bucket: string;
  /** Empty, or ending with a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKey: string | undefined;
  readonly secretKey: string | undefined;
}

/**
 * `s3://key:secret@host:port/bucket/prefix?region=…&tls=…`. Returns the problem, without the secret, of an invalid
 * value.
 */
export function readS3Address(value: string): S3Address | string {
  const form = "must be s3://key:secret@host:port/bucket/prefix, with ?region= and &tls=false where needed";
  if (!/^s3:\/\//i.test(value) || !URL.canParse(value)) return form;
  const url = new URL(value);
  if (url.hash !== "") return "contains #; write %23 inside the secret";
  for (const [name, given] of url.searchParams) {
    if (name !== "region" && name !== "tls") return "has an unknown parameter; the parameters are region and tls";
    if (name === "tls" && given !== "true" && given !== "false")
      return "has an invalid parameter tls; use true or false";
    if (name === "region" && !/^[\w-]{1,64}$/.test(given))
      return "has an invalid parameter region; use a name such as eu-central-1";
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
    return "contains % without two hexadecimal digits after it; write %25 inside the secret";
  }
  const [bucket, ...prefix] = parts.path;
  if (url.hostname === "" || bucket === undefined) return form;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    return "has an invalid bucket name; use 3 to 63 lower-case letters, digits, dots and hyphens";
  if (prefix.some((part) => !/^[\w-][\w.-]*$/.test(part)))
    return "has an invalid prefix; use letters, digits, dots, underscores and hyphens";
  if ((parts.accessKey === "") !== (parts.secretKey === ""))
    return "has a key without a secret, or a secret without a key";
  return {
    endpoint: `${url.searchParams.get("tls") === "false" ? "http" : "https"}://${url.host}`,
    bucket,
    prefix: prefix.map((part) => `${part}/`).join(""),
    region: url.searchParams.get("region") ?? "us-east-1",
    accessKey: parts.accessKey === "" ? undefined : parts.accessKey,
    secretKey: parts.secretKey === "" ? undefined : parts.secretKey,
  };
}

export function s3AddressProblem(value: string): string | undefined {
  const read = readS3Address(value);
  return typeof read === "string" ? read : undefined;
}
