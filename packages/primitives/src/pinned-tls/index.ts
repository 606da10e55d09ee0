export { refusalOfPeer, type TlsCredentials, TlsIdentity } from "./tls-identity.ts";
