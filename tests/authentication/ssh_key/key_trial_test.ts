import assert from "node:assert/strict";
import { authorityInLine, parseKeyLine } from "../../../src/authentication/ssh_key/authorized_keys.ts";
import { KeyTrial } from "../../../src/authentication/ssh_key/key_trial.ts";
import { publicLine } from "./user_keys.ts";

const LINE = publicLine("user_ed25519");

Deno.test("KeyTrial.find() never accepts the key of an authority as a user's own", async () => {
  const parsed = parseKeyLine(LINE);
  assert(parsed.kind === "key");
  const proof = {
    user: "ann",
    fits: () => true,
    isMadeBy: () => Promise.resolve(true),
    verifyDecoy: () => Promise.resolve(),
  };
  const trial = new KeyTrial(proof, "192.0.2.1", Date.now(), undefined);
  assert.equal(await trial.find([parsed.key]), parsed.key);
  const issues = authorityInLine(`cert-authority ${LINE}`);
  assert(issues !== undefined);
  assert.equal(await trial.find([{ ...parsed.key, issues }]), undefined);
});

Deno.test("authorityInLine() accepts only lines with the option cert-authority", () => {
  for (
    const options of [
      "cert-authority",
      "CERT-AUTHORITY",
      'cert-authority,principals="ann,bob"',
      'from="192.0.2.0/24",cert-authority',
    ]
  ) {
    assert(authorityInLine(`${options} ${LINE}\n`) !== undefined, options);
    assert.equal(parseKeyLine(`${options} ${LINE}`).kind, "refused", "it is no user's key");
  }
  for (
    const line of [
      LINE,
      `# cert-authority ${LINE}`,
      `@cert-authority * ${LINE}`,
      `principals="ann" ${LINE}`,
      `principals="cert-authority" ${LINE}`,
      `command="a,cert-authority,b" ${LINE}`,
      `cert-authority,command="/bin/true" ${LINE}`,
      `cert-authority,principals="" ${LINE}`,
      `cert-authority,moon ${LINE}`,
      `${LINE} cert-authority`,
      "cert-authority",
      "cert-authority ssh-ed25519 AAAA",
      `cert-authority ${"x".repeat(20_000)}`,
    ]
  ) {
    assert.equal(authorityInLine(line), undefined, line.slice(0, 60));
  }
});
