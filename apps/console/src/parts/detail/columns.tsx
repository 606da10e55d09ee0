import type { ReactNode } from "react";
import styles from "./columns.module.css";

/** Two columns side by side on wide screens. The first one is wider. */
export function Columns({ children }: { readonly children: ReactNode }) {
  return <div className={styles.columns}>{children}</div>;
}
