export interface AwsKeys {
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface AwsIdentity {
  /** `undefined` = the SDK's default chain: environment, profile, role of the machine. */
  readonly keys: AwsKeys | undefined;
  readonly region: string;
}

/** `aws://key:secret@region` or `aws://region`. Returns the problem, without the secret, of an invalid value. */
export function readAwsIdentity(value: string): AwsIdentity | string {
  const form =
    "must be aws://region for the role of this machine, or aws://key:secret@region, with / + and @ in the secret written as %2F %2B and %40";
  const parts = /^aws:\/\/(?:([^:@/]+):([^:@/]+)@)?([a-z0-9-]+)\/?$/.exec(value);
  if (parts === null) return form;
  const [, key, secret, region = ""] = parts;
  if (!/^[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d{1,2}$/.test(region))
    return "must end with the name of an AWS region, such as eu-central-1";
  if (key === undefined || secret === undefined) return { keys: undefined, region };
  if (key.startsWith("ASIA"))
    return "has a temporary access key, which would expire while the service runs: use a permanent key (AKIA…) or aws://region";
  try {
    return { keys: { accessKey: decodeURIComponent(key), secretKey: decodeURIComponent(secret) }, region };
  } catch {
    return "contains % without two hexadecimal digits after it; write %25 inside the secret";
  }
}

export function awsIdentityProblem(value: string): string | undefined {
  const read = readAwsIdentity(value);
  return typeof read === "string" ? read : undefined;
}
