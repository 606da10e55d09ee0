/** The caller of a request. */
export interface FakeCaller {
  readonly keyId: string;
  readonly projectId: string;
}
