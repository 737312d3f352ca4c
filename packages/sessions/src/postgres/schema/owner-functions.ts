/**
 * What the owner of a run does to it: each function is one step, checks the fence in the statement that writes, and may
 * be called twice with the same arguments.
 */
export const ownerFunctions = `
-- Writes the end of a run. The caller has locked its row.
CREATE FUNCTION agui.end_run(
  p_fence bigint, p_status text, p_at double precision, p_event text, p_done text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_bytes integer := octet_length(p_event) + 32;
  v_last bigint;
BEGIN
  UPDATE agui.runs SET status = p_status, last = last + 1, entries = entries + 1, bytes = bytes + v_bytes,
      done = p_done, ended_at = agui.now_ms()
    WHERE fence = p_fence RETURNING last INTO v_last;
  INSERT INTO agui.entries (fence, last, first, at, bytes, event)
    VALUES (p_fence, v_last, v_last, p_at, v_bytes, p_event);
  -- Watchers stay until they have read the end: a thread that is deleted waits for them.
  DELETE FROM agui.commands WHERE fence = p_fence;
  PERFORM pg_notify('agui', p_fence || ' ' || v_last);
END $$;

-- Whether a lease holds, by the clock of the server or by the time that the caller expects it to show: its date may
-- have been set since the owner renewed the lease. One that ends further away than it can does not hold.
CREATE FUNCTION agui.is_held(p_expires_at bigint, p_lease_ms bigint, p_expected bigint)
RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT p_expires_at - agui.now_ms() BETWEEN 1 AND p_lease_ms * 2
    OR coalesce(p_expires_at - p_expected BETWEEN 1 AND p_lease_ms * 2, false)
$$;

-- Ends a run whose lease has run out. Its owner, in case it lives, is notified.
CREATE FUNCTION agui.settle(p_fence bigint, p_event text, p_expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM agui.runs
    WHERE fence = p_fence AND status = 'running' AND NOT agui.is_held(expires_at, lease_ms, p_expected);
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM FROM agui.runs
    WHERE fence = p_fence AND status = 'running' AND NOT agui.is_held(expires_at, lease_ms, p_expected) FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM agui.end_run(p_fence, 'lost', agui.now_ms(), p_event, '');
  PERFORM pg_notify('agui', p_fence::text);
END $$;

CREATE FUNCTION agui.drop_runs(p_fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM agui.entries WHERE fence = ANY (p_fences);
  DELETE FROM agui.commands WHERE fence = ANY (p_fences);
  DELETE FROM agui.watchers WHERE fence = ANY (p_fences);
  DELETE FROM agui.runs WHERE fence = ANY (p_fences);
END $$;

CREATE FUNCTION agui.record_of(p_run agui.runs) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_object('fence', p_run.fence, 'principal', p_run.principal, 'threadId', p_run.thread_id,
    'runId', p_run.run_id, 'agentId', p_run.agent_id, 'protocolVersion', p_run.protocol_version,
    'status', p_run.status, 'first', p_run.first, 'last', p_run.last, 'now', agui.now_ms(),
    'left', p_run.expires_at - agui.now_ms())::text
$$;

-- Returns the fence, or the record of the run in its way.
CREATE FUNCTION agui.open_run(
  p_principal text, p_thread text, p_run text, p_agent text, p_version text, p_token text,
  p_lease_ms bigint, p_log_ms bigint, p_event text, p_expected bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_key bytea := agui.key_of(p_principal, p_run);
  v_thread bytea := agui.key_of(p_principal, p_thread);
  v_fence bigint;
  v_found agui.runs;
BEGIN
  FOR attempt IN 1..5 LOOP
    SELECT fence INTO v_fence FROM agui.runs WHERE run = v_key;
    IF FOUND THEN PERFORM agui.settle(v_fence, p_event, p_expected); END IF;
    SELECT fence INTO v_fence FROM agui.runs WHERE thread = v_thread AND status = 'running';
    IF FOUND THEN PERFORM agui.settle(v_fence, p_event, p_expected); END IF;

    SELECT * INTO v_found FROM agui.runs WHERE run = v_key FOR UPDATE;
    IF FOUND THEN
      IF v_found.token = p_token THEN RETURN v_found.fence; END IF;
      -- One whose log has nothing but its end never started.
      IF v_found.status = 'running' OR (v_found.last > 1 AND v_found.ended_at > agui.now_ms() - p_log_ms) THEN
        RETURN agui.record_of(v_found);
      END IF;
    END IF;
    v_fence := v_found.fence;
    SELECT * INTO v_found FROM agui.runs WHERE thread = v_thread AND status = 'running';
    IF FOUND THEN RETURN agui.record_of(v_found); END IF;
    IF v_fence IS NOT NULL THEN PERFORM agui.drop_runs(ARRAY[v_fence]); END IF;
    BEGIN
      INSERT INTO agui.runs (fence, run, thread, principal, thread_id, run_id, agent_id, protocol_version, token,
          expires_at, lease_ms)
        VALUES (greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, (
            SELECT max(fence) + 1 FROM agui.runs WHERE thread = v_thread)),
          v_key, v_thread, p_principal, p_thread, p_run, p_agent, p_version, p_token, agui.now_ms() + p_lease_ms,
          p_lease_ms)
        RETURNING fence INTO v_fence;
      RETURN v_fence;
    EXCEPTION WHEN unique_violation THEN
      -- Another process opened the thread or the run, or took this fence, in the same moment.
    END;
  END LOOP;
  -- A transaction that does not see what others commit never comes to an end here; the next one does.
  RAISE EXCEPTION 'Another process opened run or thread in the same moment.' USING ERRCODE = 'serialization_failure';
END $$;

CREATE FUNCTION agui.trim_log(p_fence bigint, p_max_entries bigint, p_max_bytes bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_run agui.runs;
  v_gone record;
BEGIN
  SELECT * INTO v_run FROM agui.runs WHERE fence = p_fence;
  WHILE v_run.entries > 1 AND (v_run.entries > p_max_entries OR v_run.bytes > p_max_bytes) LOOP
    SELECT max(ranked.last) AS last, count(*) AS entries, sum(ranked.bytes) AS bytes INTO v_gone FROM (
      SELECT oldest.last, oldest.bytes, row_number() OVER places AS place, sum(oldest.bytes) OVER places AS total
      FROM (
        SELECT e.last, e.bytes FROM agui.entries e
          WHERE e.fence = p_fence AND e.last >= v_run.first ORDER BY e.last LIMIT 100
      ) oldest WINDOW places AS (ORDER BY oldest.last)
    ) ranked WHERE v_run.entries - ranked.place >= 1 AND (
      v_run.entries - ranked.place + 1 > p_max_entries OR v_run.bytes - ranked.total + ranked.bytes > p_max_bytes);
    EXIT WHEN v_gone.last IS NULL;
    DELETE FROM agui.entries WHERE fence = p_fence AND last BETWEEN v_run.first AND v_gone.last;
    v_run.first := v_gone.last + 1;
    v_run.entries := v_run.entries - v_gone.entries;
    v_run.bytes := v_run.bytes - v_gone.bytes;
  END LOOP;
  UPDATE agui.runs SET first = v_run.first, entries = v_run.entries, bytes = v_run.bytes WHERE fence = p_fence;
END $$;

-- When a lease ends that is renewed now: no earlier than before, unless that is further away than it can be.
CREATE FUNCTION agui.later_end(p_before bigint, p_now bigint, p_lease_ms bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_before > p_now + p_lease_ms * 2 THEN p_now + p_lease_ms
    ELSE greatest(p_before, p_now + p_lease_ms) END
$$;

-- Appends one batch for each of several runs. Returns for each of them 'ok', 'lost', or the last offset that is
-- stored when the batch does not follow it.
CREATE FUNCTION agui.append(
  p_fences bigint[], p_firsts bigint[], p_lasts bigint[], p_dones text[],
  e_fences bigint[], e_firsts bigint[], e_lasts bigint[], e_ats double precision[], e_cuts text[], e_events text[],
  p_lease_ms bigint, p_max_entries bigint, p_max_bytes bigint, p_durable integer
) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := agui.now_ms();
  v_run record;
  v_held bigint[] := '{}';
BEGIN
  -- A crash of the server may take the last moments of a text; a process that is alive appends them again.
  IF p_durable = 0 THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  FOR v_run IN
    WITH entry AS (
      SELECT e.*, octet_length(e.event) + coalesce(octet_length(e.cuts), 0) + 32 AS bytes
        FROM unnest(e_fences, e_firsts, e_lasts, e_ats, e_cuts, e_events) AS e (fence, first, last, at, cuts, event)
    ), batch AS (
      SELECT b.*, s.entries, s.bytes
        FROM unnest(p_fences, p_firsts, p_lasts, p_dones) AS b (fence, first, last, done)
        JOIN (SELECT fence, count(*) AS entries, sum(bytes) AS bytes FROM entry GROUP BY fence) s USING (fence)
    ), held AS (
      UPDATE agui.runs r SET last = b.last, entries = r.entries + b.entries, bytes = r.bytes + b.bytes,
          done = b.done, expires_at = agui.later_end(r.expires_at, v_now, p_lease_ms)
        FROM batch b WHERE r.fence = b.fence AND r.status = 'running' AND r.last = b.first - 1
        RETURNING r.fence, r.last, r.entries, r.bytes, r.watched_until
    ), written AS (
      INSERT INTO agui.entries (fence, last, first, at, bytes, cuts, event)
        SELECT e.fence, e.last, e.first, e.at, e.bytes, e.cuts, e.event FROM entry e JOIN held USING (fence)
    )
    SELECT * FROM held
  LOOP
    v_held := v_held || v_run.fence;
    IF v_run.entries > p_max_entries OR v_run.bytes > p_max_bytes THEN
      PERFORM agui.trim_log(v_run.fence, p_max_entries, p_max_bytes);
    END IF;
    -- Only where a process follows it: notifying is what keeps commits apart.
    IF v_run.watched_until > v_now THEN
      PERFORM pg_notify('agui', v_run.fence || ' ' || v_run.last);
    END IF;
  END LOOP;
  RETURN QUERY SELECT CASE
      WHEN b.fence = ANY (v_held) OR r.done = b.done THEN 'ok'
      WHEN r.fence IS NULL OR r.status <> 'running' THEN 'lost'
      ELSE r.last::text
    END
    FROM unnest(p_fences, p_dones) WITH ORDINALITY AS b (fence, done, place)
    LEFT JOIN agui.runs r ON r.fence = b.fence ORDER BY b.place;
END $$;

-- Without an offset the end follows whatever is stored.
CREATE FUNCTION agui.close_run(
  p_fence bigint, p_offset bigint, p_status text, p_at double precision, p_event text, p_done text,
  p_max_entries bigint, p_max_bytes bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_run agui.runs;
BEGIN
  SELECT * INTO v_run FROM agui.runs WHERE fence = p_fence FOR UPDATE;
  IF v_run.done = p_done THEN RETURN 'ok'; END IF;
  IF v_run.fence IS NULL OR v_run.status <> 'running' THEN RETURN 'lost'; END IF;
  IF p_offset <> v_run.last + 1 THEN RETURN v_run.last; END IF;
  PERFORM agui.end_run(p_fence, p_status, p_at, p_event, p_done);
  PERFORM agui.trim_log(p_fence, p_max_entries, p_max_bytes);
  RETURN 'ok';
END $$;

-- Renews leases and watchers when it is given a time, and returns what this process has not received.
CREATE FUNCTION agui.look(
  p_process text, p_lease_ms bigint, p_watch_ms bigint, p_owned bigint[], p_seen bigint[], p_watched bigint[]
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := agui.now_ms();
BEGIN
  IF p_lease_ms > 0 THEN
    -- A row that is locked is being written to, which renews it as well.
    WITH free AS (
      SELECT fence FROM agui.runs WHERE fence = ANY (p_owned || p_watched) AND status = 'running'
        ORDER BY fence FOR UPDATE SKIP LOCKED
    )
    UPDATE agui.runs r SET
        expires_at = CASE WHEN r.fence = ANY (p_owned) THEN agui.later_end(r.expires_at, v_now, p_lease_ms)
          ELSE r.expires_at END,
        watched_until = CASE WHEN r.fence = ANY (p_watched) THEN greatest(r.watched_until, v_now + p_watch_ms)
          ELSE r.watched_until END
      FROM free WHERE r.fence = free.fence;
    UPDATE agui.watchers SET expires_at = v_now + p_watch_ms WHERE process = p_process;
  END IF;
  RETURN json_build_object('now', v_now,
    'lost', (SELECT coalesce(json_agg(o.fence), '[]') FROM unnest(p_owned) AS o (fence)
      WHERE NOT EXISTS (SELECT FROM agui.runs r WHERE r.fence = o.fence AND r.status = 'running')),
    'commands', (SELECT coalesce(json_agg(json_build_array(c.fence, c.number, c.value) ORDER BY c.fence, c.number),
        '[]') FROM unnest(p_owned, p_seen) AS o (fence, seen)
      JOIN agui.commands c ON c.fence = o.fence AND c.number > o.seen),
    'lasts', (SELECT coalesce(json_agg(json_build_array(w.fence, r.last)), '[]')
      FROM unnest(p_watched) AS w (fence) LEFT JOIN agui.runs r ON r.fence = w.fence)
  )::text;
END $$;

-- A process that ends lets others have its threads at once.
CREATE FUNCTION agui.leave(p_process text, p_owned bigint[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM agui.watchers WHERE process = p_process;
  UPDATE agui.runs SET expires_at = 0 WHERE fence = ANY (p_owned) AND status = 'running';
  RETURN 'ok';
END $$;
`;
