"""The cases of the checker's suites, the rules that convict the wrong ones and those that the right ones resemble: read by
check_test.py and rule_table.py, and by those who put the same cases before a real GPU's tools
(tests/gpu/check_record.py, card_table.py)."""

# The rules that convict each case, by program. All others must be clean.
WRONG = {
    "memory": {
        "past_end": {"memory.bounds"}, "before_start": {"memory.bounds"}, "into_neighbour": {"memory.bounds"},
        "no_guard": {"memory.bounds"}, "shared_next_array": {"memory.bounds"}, "shared_outside": {"memory.bounds"},
        "symbol": {"memory.bounds"}, "constant": {"memory.bounds"}, "constant_written": {"memory.bounds"},
        "atomic_in_function": {"memory.bounds"}, "null": {"memory.bounds"},
        "atomic": {"memory.bounds"}, "short_atomic": {"memory.bounds"}, "row": {"memory.bounds"}, "misaligned": {"memory.misaligned"},
        "freed": {"memory.freed"}, "freed_in_stream": {"memory.freed"}, "leak": {"memory.leak"},
    },
    "races": {
        "no_barrier": {"race.shared"}, "second_barrier": {"race.shared"}, "no_syncwarp": {"race.warp"},
        "tree": {"race.warp"}, "bins": {"race.shared", "race.warp", "race.same_value"}, "late_zero": {"race.shared", "race.warp"},
        "other_half": {"race.shared"}, "no_arrival": {"race.shared"}, "message": {"race.shared"},
        "copy_no_wait": {"race.copy"}, "copy_no_barrier": {"race.copy"}, "same_word": {"race.global"},
        "same_flag": {"race.same_value"}, "neighbours": {"race.global", "race.warp"}, "edges": {"race.global"},
        "total_plain": {"race.global"},
    },
    "api": {
        **{case: {"memory.free"} for case in (
            "free_twice", "free_inside", "free_host", "free_pinned_as_device", "free_device_as_pinned",
            "free_async_twice")},
        **{case: {"memory.freed"} for case in ("late_use", "late_use_of_many", "late_use_of_pool")},
        **{case: {"api.error"} for case in (
            "copy_past_end", "copy_direction", "fill_past_end", "pitch", "large_block", "too_much")},
    },
    "initialisation": {
        **{case: {"memory.uninitialised"} for case in (
            "sum", "half_copied", "branch", "index", "counter", "moved", "tree_tail", "halo", "local", "reused",
            "device_copy", "member", "wrong_byte", "thrown_away", "warp")},
        **{case: {"memory.uninitialised_copy"} for case in (
            "copy_none", "copy_word", "copy_tail", "copy_last", "copy_rows", "copy_moved",
            "copy_local")},
    },
    "synchronisation": {
        **{case: {"sync.mask"} for case in ("syncwarp", "vote", "ballot", "match", "reduce")},
        "shuffle": {"sync.mask", "sync.inactive_lane"},
        **{case: {"sync.divergent_barrier"} for case in ("branches", "early", "odd_lanes", "four_ways", "company",
                                                      "uneven")},
        **{case: {"sync.mixed_barrier"} for case in ("roles", "first_warp", "turns", "four_warps", "company_of_warps",
                                                  "uneven_warps")},
    },
    "order": {
        **{case: {"race.global"} for case in (
            "message_no_fence", "message_first_fence", "message_second_fence", "message_block_fence",
            "message_block_fence_behind", "late_payload", "plain_flag", "release_to_block", "acquire_from_block",
            "release_of_one", "lock_no_fence", "lock_block_fence", "last_no_fence",
            "total_of_blocks", "no_grid_sync", "chain_no_fence", "counts_late")},
        "lock_plain_unlock": {"race.global", "race.same_value"},
        "last_hoped": {"race.acquire"}, "reset_hoped": {"race.acquire"}, "not_cooperative": {"launch.failed"},
        "not_by_all": {"launch.failed"},
    },
    "protocol": {
        **{case: {"sync.inactive_lane"} for case in (
            "short_block", "outside_mask", "other_half", "below_the_first", "ended", "decides")},
        **{case: {"sync.mbarrier"} for case in ("waits_for_nothing", "twice", "each_turn")},
        **{case: {"sync.mbarrier", "launch.failed"} for case in ("not_initialised", "invalidated", "only_first")},
        "early": {"race.shared", "race.warp"}, "no_wait": {"race.shared"},
    },
    "streams": {
        **{case: {"race.stream"} for case in (
            "two_streams", "copy_behind", "fill_beside", "two_copies", "default_stream", "behind_default_stream",
            "recorded_early", "never_recorded", "host_fill", "host_copy", "buffer_reused", "edges", "chain",
            "per_thread", "pageable", "atomics", "readers", "destroyed", "graph_twice", "graph_beside")},
        **{case: {"race.graph"} for case in (
            "nodes", "copy_node", "fill_node", "captured", "child_graph", "diamond", "disabled", "atomic_nodes")},
        **{case: {"race.lifetime"} for case in (
            "used_elsewhere", "freed_elsewhere", "freed_beside_use", "host_free", "filled_elsewhere",
            "pool_and_default_stream", "device_memory_freed", "used_behind_free")},
    },
}


def like(program, *wrong):
    """Right cases that are the wrong ones, mended: `ok_X` resembles what convicts `X`."""
    return {f"ok_{case}": WRONG[program][case] for case in wrong}


def of(rule, *right):
    """Right cases that `rule` must leave alone."""
    return {case: {rule} for case in right}


# Right cases, and the rules that each would break if it were a little different: rule_table.py counts them.
RIGHT = {
    "memory": {
        "ok_none": set(), **like("memory", "row", "short_atomic", "symbol", "constant"),
        **of("memory.bounds", "ok_shift", "ok_constant_pointer", "ok_atomic_in_function", "ok_middle", "ok_guard", "ok_shared", "ok_dynamic", "ok_local"),
        "ok_heap": {"memory.bounds", "memory.free"},
        "ok_aligned": {"memory.misaligned"}, "ok_reused": {"memory.freed"},
        **of("memory.free", "ok_pinned", "ok_managed"),
    },
    "races": {
        **of("race.shared", "ok_barrier", "ok_two_barriers", "ok_halves", "ok_arrival", "ok_message"),
        **of("race.warp", "ok_syncwarp", "ok_volatile_tree"), **like("races", "bins", "late_zero"),
        "ok_bytes": {"race.shared", "race.warp"}, **of("race.copy", "ok_copy", "ok_copy_barrier", "ok_copies_in_turns", "ok_copies_of_no_use"),
        **of("race.global", "ok_total", "ok_apart", "ok_in_turn", "ok_heap"),
    },
    "api": {
        **of("memory.free", "ok_free", "ok_free_async"), "ok_new_pointer": {"memory.freed"},
        **of("api.error", "ok_copy", "ok_looked_at", "ok_query", "ok_registered"),
        **like("api", "free_twice", "late_use_of_pool", "copy_direction", "fill_past_end", "pitch", "large_block"),
    },
    "initialisation": {
        **like("initialisation", "sum", "moved", "halo", "local", "device_copy", "member", "thrown_away", "warp",
               "copy_rows", "copy_moved", "copy_word", "copy_local"),
        **of("memory.uninitialised", "ok_copied", "ok_guarded", "ok_exchange", "ok_tree", "ok_symbol", "ok_call",
             "ok_fields", "ok_top_byte"),
        **of("memory.uninitialised_copy", "ok_copy", "ok_holes", "ok_moved_holes", "ok_written_here"),
    },
    "synchronisation": {
        **of("sync.mask", "ok_syncwarp", "ok_vote", "ok_match", "ok_few", "ok_own"), **like("synchronisation", "shuffle"),
        **of("sync.divergent_barrier", "ok_return", "ok_count", "ok_joins"),
        **of("sync.mixed_barrier", "ok_halves", "ok_joins_warps"),
        # One kernel for both: only where its threads part differs.
        **{case: {"sync.divergent_barrier", "sync.mixed_barrier"} for case in (
            "ok_uniform", "ok_loop", "ok_one_way", "ok_company", "ok_even")},
    },
    "order": {
        **of("race.global", "ok_message", "ok_hand_over", "ok_lock", "ok_total", "ok_total_of_block", "ok_chain"),
        **of("race.global", "ok_reset_barrier", "ok_counts"), "ok_reset": {"race.global", "race.acquire"},
        "ok_last": {"race.global", "race.acquire"}, "ok_grid_sync": {"race.global", "launch.failed"},
    },
    "protocol": {
        **of("sync.inactive_lane", "ok_sum", "ok_half", "ok_broadcast", "ok_partner", "ok_width", "ok_below"),
        **like("protocol", "ended", "decides", "invalidated", "early"),
        **of("sync.mbarrier", "ok_again", "ok_count", "ok_one_warp"), "ok_both": {"sync.mbarrier", "launch.failed"},
        "ok_hand_over": {"race.shared", "sync.mbarrier"},
    },
}
WRONG["heap"] = {
    **{case: {"memory.bounds"} for case in ("piece_past_end", "piece_before_start", "piece_read", "piece_atomic", "piece_far",
                                            "object_past_end")},
    **{case: {"memory.freed"} for case in ("piece_freed", "piece_freed_write", "piece_freed_atomic", "object_freed")},
    "shared_piece_early": {"memory.freed", "race.warp"},
    **{case: {"memory.free"} for case in ("piece_twice", "piece_inside", "host_memory_given", "stack_given")},
    "piece_by_all": {"memory.free", "race.warp"},
    **{case: {"memory.leak"} for case in ("leak_piece", "leak_pinned", "leak_managed", "leak_pool", "leak_array",
                                          "leak_pitched")},
    **{case: {"memory.misaligned"} for case in ("wide_vector", "wide_read", "wide_shared", "wide_atomic", "wide_short")},
}
RIGHT["heap"] = {
    **of("memory.bounds", "ok_piece", "ok_piece_last", "ok_object"), **like("heap", "piece_atomic"),
    **of("memory.freed", "ok_object_deleted", "ok_piece_again"), "ok_shared_piece": {"memory.freed", "race.warp"},
    "ok_nothing_given": {"memory.free"}, "ok_wide": {"memory.misaligned"},
    **like("heap", "leak_piece", "leak_pinned", "leak_managed", "leak_pool", "leak_array", "leak_pitched", "wide_vector",
           "wide_read", "wide_shared", "wide_atomic", "wide_short"),
}
WRONG["locals"] = {case: {"memory.bounds"} for case in (
    "past_end", "before_start", "next_array", "array_before", "struct_end", "copied_struct", "called_past_end", "recursion",
    "recursion_far", "callers_array", "generic")}
RIGHT["locals"] = of("memory.bounds", "ok_last", "ok_next_array", "ok_struct", "ok_copied_struct", "ok_called", "ok_recursion",
                     "ok_callers_array", "ok_generic", "ok_generic_global", "ok_nothing")
WRONG["rows"] = {
    **{case: {"memory.bounds"} for case in ("column_past_end", "column_far_away", "wide_column_past_end", "row_past_end")},
    "value_unwritten": {"memory.uninitialised"}, "misaligned": {"memory.misaligned"}, "in_place": {"race.global", "race.warp"},
    "copy_beside": {"race.stream"}, "copy_between": {"race.stream"},
}
RIGHT["rows"] = {
    **of("memory.bounds", "ok", "ok_wide"), **of("race.stream", "ok_copy_beside", "ok_copy_between"),
}
WRONG["left_out"] = {
    **{case: {"sync.bypassed"} for case in ("before_store", "before_store_warp", "with_value", "last_turn", "until_done",
                                            "in_function", "tile", "vote_before")},
    **{case: {"sync.count"} for case in ("two_counts", "arrives_for", "all_or_some", "reduces", "in_turns")},
    "by_warp": {"sync.count", "launch.failed"},
    **{case: {"launch.failed"} for case in ("phase_one_missing", "phase_half", "phase_and_barrier")},
}
RIGHT["left_out"] = {
    **like("left_out", "before_store", "with_value", "last_turn", "until_done", "in_function", "tile", "two_counts",
           "arrives_for", "all_or_some", "by_warp", "reduces", "in_turns", "phase_half", "phase_and_barrier"),
    **of("sync.bypassed", "ok_vote_of_members", "ok_early_return", "ok_store_and_return", "ok_return_in_loop"),
    "ok_phase": {"launch.failed"},
}
WRONG["lesser"] = {
    **{case: {"race.same_value"} for case in ("flag", "mark", "shared_flag", "leader", "pairs", "zero_halo")},
    **{case: {"race.atomic_load"} for case in ("greatest", "count_and_look", "look_in_shared", "stop_at_limit",
                                               "lock_look", "bins_look")},
    **{f"last_{how}": {"race.acquire"} for how in ("add", "inc", "or", "sub", "wide", "system")},
    **{case: {"race.copy"} for case in ("stage_no_wait", "stage_no_barrier", "two_groups_early", "two_groups_none",
                                        "overwritten", "source_changed")},
}
RIGHT["lesser"] = {
    **of("race.same_value", "ok_flag_volatile", "ok_flag_atomic"),
    **like("lesser", "mark", "shared_flag", "leader", "pairs", "zero_halo", "greatest", "look_in_shared", "stop_at_limit",
           *(f"last_{how}" for how in ("add", "inc", "or", "sub", "wide", "system")), "overwritten", "source_changed"),
    **of("race.atomic_load", "ok_count_and_take", "ok_lock_try", "ok_bins"),
    **of("race.copy", "ok_stage", "ok_stage_barrier", "ok_two_groups", "ok_first_group", "ok_uncommitted"),
}
WRONG["host"] = {case: {"race.host"} for case in (
    "kernel_write", "kernel_read", "copy_read", "copy_write", "pieces", "managed", "fill", "other_stream", "early_event",
    "graph", "registered", "default_stream", "strided", "atomics", "memcpy")}
RIGHT["host"] = {**like("host", *WRONG["host"]),
                 **of("race.host", "ok_flag", "ok_callback", "ok_other_half", "ok_spin", "ok_two_meet")}
RIGHT["streams"] = like("streams", *WRONG["streams"])
WRONG["images"] = {
    **{case: {"race.texture"} for case in ("own_write", "behind_barrier", "counted", "two_steps", "surface_again",
                                           "surface_then_texture", "filter")},
    "next_block": {"race.global", "race.warp"}, "flip": {"race.warp"}, "painters": {"race.global"},
    "freed": {"memory.freed"}, "shrunk": {"memory.bounds"}, "surface_below": {"memory.bounds"},
    "surface_left": {"memory.bounds"}, "surface_texels_for_bytes": {"memory.misaligned"}, "streams": {"race.stream"},
    **{case: {"memory.uninitialised"} for case in ("unwritten", "unwritten_surface", "unwritten_row")},
}
RIGHT["images"] = {
    **of("race.texture", "ok_one_step", "ok_pointer", "ok_next_launch", "ok_filter", "ok_read_first", "ok_two_images",
         "ok_flip"),
    **of("race.global", "ok_own_block", "ok_painter"),
    **of("memory.bounds", "ok_beyond", "ok_outside", "ok_clamped"), **of("memory.misaligned", "ok_whole"),
    "ok_painted": {"memory.uninitialised"}, "ok_streams": {"race.stream"},
}
WRONG["bulk"] = {
    **{case: {"race.copy"} for case in (
        "no_wait", "one_waits", "wrong_barrier", "later_barrier", "into_use", "twice", "early_source", "open_group", "read_only",
        "store_no_wait", "shared_no_wait")},
    **{case: {"race.proxy"} for case in (
        "no_fence", "one_fences", "early_fence", "global_fence", "thread_fence", "counted", "second_round",
        "warp_no_fence", "shared_no_fence", "words_no_fence", "words_early_fence", "global_shared_fence",
        "global_thread_fence", "global_one_fences")},
}
RIGHT["bulk"] = {
    **of("race.copy", "ok_wait", "ok_one_waits", "ok_two_barriers", "ok_later_copy", "ok_in_turn", "ok_read", "ok_groups",
         "ok_store", "ok_shared"),
    **of("race.proxy", "ok_writers", "ok_issuer", "ok_all", "ok_counted", "ok_rounds", "ok_through", "ok_warp", "ok_words",
         "ok_global_writers", "ok_global_issuer", "ok_global_beside"),
}


def leaks_matter(case):
    """Most others keep what they have to the end."""
    return "leak" in case or case == "ok_none"


def cases(program):
    """(case, rules) of a program; right ones have no rules."""
    return [*WRONG[program].items(), *((case, set()) for case in RIGHT[program])]


def count(rule):
    """How many wrong cases `rule` convicts, and how many right ones resemble them."""
    return [sum(rule in rules for suite in suites.values() for rules in suite.values()) for suites in (WRONG, RIGHT)]
