/** Configured authenticator or attribute source; `kind`, a simple Java class name, determines its other members. */
export interface KindConfig {
  readonly kind: string;
  readonly name: string; // as configured, such as `SSHKEY`
}
