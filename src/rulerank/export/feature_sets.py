def feature_set_for(to, names, feature_set): return None
