/** What the service signs with when it takes on roles of others. */
export interface AwsIdentity {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Whose STS is asked. */
  readonly region: string;
}

/** Reads `aws://key:secret@region`. @returns the identity, or what is wrong with it: nothing of the value itself, which holds a secret. */
export function readAwsIdentity(value: string): AwsIdentity | string {
  const form = "must be aws://key:secret@region, such as aws://AKIA…:…@eu-central-1, with / + and @ in the secret written as %2F %2B and %40";
  const parts = /^aws:\/\/([^:@/]+):([^:@/]+)@([a-z0-9-]+)\/?$/.exec(value);
  if (parts === null) return form;
  const [, key = "", secret = "", region = ""] = parts;
  if (!/^[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d{1,2}$/.test(region)) return "must end with the name of an AWS region, such as eu-central-1";
  let identity: AwsIdentity;
  try {
    identity = { accessKey: decodeURIComponent(key), secretKey: decodeURIComponent(secret), region };
  } catch {
    return "has a % that is not followed by two hexadecimal digits: write %25 for one within the secret";
  }
  if (identity.accessKey.startsWith("ASIA"))
    return "has a temporary access key, which ends while the service runs: use one of a user, which begins with AKIA";
  return identity;
}

/** What is wrong with an identity, if anything. */
export function awsIdentityProblem(value: string): string | undefined {
  const read = readAwsIdentity(value);
  return typeof read === "string" ? read : undefined;
}

const suffixOf = (region: string) => (region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com");

/** Where STS of a region answers. */
export function stsUrl(region: string): string {
  return `https://sts.${region}.${suffixOf(region)}/`;
}

/** Where objects of a bucket lie, without a slash at its end. Both names were checked: neither can lead to another host. */
export function bucketUrl(bucket: string, region: string): string {
  const host = `s3.${region}.${suffixOf(region)}`;
  // The certificate is for one label before it.
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}
