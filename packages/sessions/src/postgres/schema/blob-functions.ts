/** Bytes in rows, one for each piece; they are passed as base64, which every client leaves as it is. */
export const blobFunctions = `
-- Returns the id of a new blob, or nothing when the key is taken.
CREATE FUNCTION agui.reserve_blob(
  p_principal text, p_name text, p_token text, p_metadata text, p_ttl_ms bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_key bytea := agui.key_of(p_principal, p_name);
  v_found agui.blobs;
  v_id bigint;
BEGIN
  LOOP
    SELECT * INTO v_found FROM agui.blobs WHERE key = v_key FOR UPDATE;
    IF FOUND THEN
      IF v_found.token = p_token THEN RETURN v_found.id; END IF;
      IF v_found.expires_at > agui.now_ms() THEN RETURN NULL; END IF;
      DELETE FROM agui.blob_pieces WHERE blob = v_found.id;
      DELETE FROM agui.blobs WHERE id = v_found.id;
    END IF;
    INSERT INTO agui.blobs (key, principal, name, token, metadata, expires_at)
      VALUES (v_key, p_principal, p_name, p_token, p_metadata, agui.now_ms() + p_ttl_ms)
      ON CONFLICT (key) DO NOTHING RETURNING id INTO v_id;
    IF FOUND THEN RETURN v_id; END IF;
  END LOOP;
END $$;

CREATE FUNCTION agui.write_piece(p_blob bigint, p_place integer, p_bytes text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM agui.blobs WHERE id = p_blob AND size IS NULL FOR SHARE;
  IF NOT FOUND THEN RETURN 'gone'; END IF;
  INSERT INTO agui.blob_pieces (blob, place, bytes) VALUES (p_blob, p_place, decode(p_bytes, 'base64'))
    ON CONFLICT (blob, place) DO NOTHING;
  RETURN 'ok';
END $$;

CREATE FUNCTION agui.finish_blob(p_blob bigint, p_size bigint, p_ttl_ms bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agui.blobs SET size = p_size, expires_at = agui.now_ms() + p_ttl_ms WHERE id = p_blob;
  RETURN CASE WHEN FOUND THEN 'ok' ELSE 'gone' END;
END $$;

CREATE FUNCTION agui.find_blob(p_principal text, p_name text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '{"id":' || id || ',"size":' || size || ',"metadata":' || metadata || '}' FROM agui.blobs
    WHERE key = agui.key_of(p_principal, p_name) AND size IS NOT NULL AND expires_at > agui.now_ms()
$$;

-- Returns 'gone' when the blob is, and nothing after the last piece.
CREATE FUNCTION agui.read_piece(p_blob bigint, p_place integer) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  PERFORM FROM agui.blobs WHERE id = p_blob AND expires_at > agui.now_ms();
  IF NOT FOUND THEN RETURN 'gone'; END IF;
  RETURN (SELECT ':' || translate(encode(bytes, 'base64'), chr(10), '') FROM agui.blob_pieces
    WHERE blob = p_blob AND place = p_place);
END $$;

CREATE FUNCTION agui.drop_blob(p_blob bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM agui.blobs WHERE id = p_blob;
  DELETE FROM agui.blob_pieces WHERE blob = p_blob;
  RETURN CASE WHEN FOUND THEN 'ok' ELSE 'gone' END;
END $$;

CREATE FUNCTION agui.delete_blob(p_principal text, p_name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  DELETE FROM agui.blobs WHERE key = agui.key_of(p_principal, p_name) AND size IS NOT NULL
    AND expires_at > agui.now_ms() RETURNING id INTO v_id;
  IF NOT FOUND THEN RETURN 'none'; END IF;
  DELETE FROM agui.blob_pieces WHERE blob = v_id;
  RETURN 'ok';
END $$;

CREATE FUNCTION agui.blob_bytes() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(size), 0)::text FROM agui.blobs WHERE expires_at > agui.now_ms()
$$;
`;
