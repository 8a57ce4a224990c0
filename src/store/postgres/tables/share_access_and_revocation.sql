ALTER TABLE share_use ADD COLUMN looked smallint CHECK (looked IN (0, 1));
ALTER TABLE share_use ADD COLUMN version text;
ALTER TABLE share_use ADD COLUMN visitor text;
-- Finds expired bans and unbans by operators.
CREATE INDEX operator_ban_by_end ON operator_ban (ends);
CREATE INDEX operator_lift_by_end ON operator_lift (ends);
-- Transaction that wrote a revocation: others read what was written since their last snapshot.
ALTER TABLE record ADD COLUMN written BIGINT;
CREATE INDEX record_revoked_since ON record (written) WHERE kind LIKE 'revoked-%';
CREATE FUNCTION order_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN NEW.written = txid_current(); RETURN NEW; END $$;
CREATE TRIGGER record_ordered BEFORE INSERT OR UPDATE ON record
  FOR EACH ROW WHEN (NEW.kind LIKE 'revoked-%') EXECUTE FUNCTION order_revocation();
