import { Table } from "@mantine/core";
import type { ReactNode } from "react";
import { breakable } from "../../base/breakable.tsx";
import styles from "./details.module.css";

interface DetailsProps {
  /** Names and values. Rows without a value are omitted. */
  readonly rows: readonly (readonly [name: string, value: ReactNode])[];
}

/** Properties of one resource. */
export function Details({ rows }: DetailsProps) {
  return (
    <div className={styles.details}>
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {rows
            .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "")
            .map(([name, value]) => (
              <Table.Tr key={name} className={styles.row}>
                <Table.Th className={styles.name} scope="row">
                  {name}
                </Table.Th>
                <Table.Td className={styles.value}>{typeof value === "string" ? breakable(value) : value}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
